-- For wrk: asks for the paths of a file in turn, one in each line, and prints what came of it as JSON.
-- Arguments: the file, and the body of a POST where it is not a GET.
local requests = {}
local at = 0

function init(args)
  local method = args[2] and 'POST' or 'GET'
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format(method, path, nil, args[2])
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\nresult {"perSecond":%f,"refused":%d,"broken":%d,"p50Ms":%f,"p95Ms":%f}\n',
    (summary.requests - errors.status) / summary.duration * 1e6, errors.status, broken,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000))
end
