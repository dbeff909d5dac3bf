"""The steps of scenario.ts, by the client that openapi-python-client makes."""

import io
import json
import os
import time

from graticule_client import AuthenticatedClient
from graticule_client.api.datasets import datasets_get, datasets_insert_rows, datasets_list, datasets_query_advanced
from graticule_client.api.uploads import uploads_create, uploads_get
from graticule_client.models import (
    DatasetsInsertRowsBodyType1Item,
    DatasetsQueryAdvancedBody,
    Problem,
    UploadForm,
)
from graticule_client.types import File

client = AuthenticatedClient(
    base_url=os.environ["SERVER_URL"],
    token=os.environ["SERVER_KEY"],
    prefix="",
    auth_header_name="x-api-key",
    timeout=60,
)


def feature(name, population, coordinates):
    geometry = {"type": "Point", "coordinates": coordinates}
    return {"type": "Feature", "properties": {"name": name, "population": population}, "geometry": geometry}


cities = {
    "type": "FeatureCollection",
    "features": [feature("Oslo", 717710, [10.75, 59.91]), feature("Bergen", 291940, [5.32, 60.39])],
}


def dataset_of(name):
    payload = io.BytesIO(json.dumps(cities).encode())
    file = File(payload=payload, file_name="cities.geojson", mime_type="application/geo+json")
    upload = uploads_create.sync(client=client, body=UploadForm(file=file, name=name, source_srid="4326"))
    for _ in range(600):
        found = uploads_get.sync(id=upload.id, client=client)
        if found.dataset_id:
            return str(found.dataset_id)
        time.sleep(0.1)
    raise SystemExit("The upload did not end.")


def count_above(dataset, population):
    body = DatasetsQueryAdvancedBody.from_dict({"where": {"population": {"$gt": population}}})
    return len(datasets_query_advanced.sync(id=dataset, client=client, body=body))


def insert(dataset, rows):
    body = [DatasetsInsertRowsBodyType1Item.from_dict(row) for row in rows]
    return datasets_insert_rows.sync(id=dataset, client=client, body=body).to_dict()


def names(limit, offset):
    return [dataset.name for dataset in datasets_list.sync(client=client, limit=limit, offset=offset, sort=["name"])]


def missing(dataset):
    problem = datasets_get.sync(id=dataset, client=client)
    assert isinstance(problem, Problem), problem
    return {"status": problem.status, "type": problem.type_, "detail": problem.detail}


dataset = [dataset_of(name) for name in ["first", "second", "third"]][0]
before = count_above(dataset, 500_000)
inserted = insert(
    dataset,
    [
        {"name": "Malmö", "population": 362133, "geom": {"type": "Point", "coordinates": [13, 55.6]}},
        {"name": "København", "population": 1400000, "geom": None},
    ],
)
print(
    json.dumps(
        {
            "before": before,
            "inserted": inserted,
            "after": count_above(dataset, 500_000),
            "pages": [names(2, 0), names(2, 2)],
            "missing": missing("00000000-0000-4000-8000-000000000000"),
        }
    )
)
