/** The quick start: from a file to a map in four steps, with this server's URL. The key is a placeholder, because keys are secret. */
export interface QuickStartStep {
  title: string
  code: string
}

/** `server` ends with a slash, as `serverUrl` does. */
export function quickStartSteps(server: string): QuickStartStep[] {
  return [
    {
      title: 'Keep a key at hand. Access → API keys has yours, or makes one that may do less.',
      code: 'KEY=your-api-key',
    },
    {
      title: 'Upload a file, and wait for it: the answer holds the id of the dataset.',
      code: [
        `UPLOAD=$(curl -s ${server}api/v1/uploads \\`,
        '  -H "x-api-key: $KEY" -F file=@places.geojson | jq -r .id)',
        `curl -s ${server}api/v1/uploads/$UPLOAD \\`,
        `  -H "x-api-key: $KEY" -H "prefer: wait=20" | jq '{ status, datasetId }'`,
      ].join('\n'),
    },
    {
      title: 'Ask for rows.',
      code: [
        'ID=id-of-the-dataset',
        `curl -s "${server}api/v1/datasets/$ID/query?format=geojson" \\`,
        `  -H "x-api-key: $KEY" -H "content-type: application/json" -d '{ "limit": 10 }'`,
      ].join('\n'),
    },
    {
      title: 'Show it on a web page, with a key that may only read.',
      code: [
        "import { createClient } from '@graticule/client'",
        "import { DataSource, GraticuleMap } from '@graticule/map'",
        '',
        `const client = createClient({ url: '${server.replace(/\/$/, '')}', apiKey: 'your-public-key' })`,
        "const map = new GraticuleMap({ client, container: 'map', style: 'id-of-a-style' })",
        "new DataSource({ svcMap: map, id: 'places', src: 'id-of-the-dataset' })",
      ].join('\n'),
    },
  ]
}
