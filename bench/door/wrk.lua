-- Posts the JSON of the variable BENCH_BODY, if it is set.
local body = os.getenv('BENCH_BODY')
if body then
  wrk.method = 'POST'
  wrk.body = body
  wrk.headers['Content-Type'] = 'application/json'
end

-- Prints the exact figures of a run as one line of JSON.
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"us":%d,"p50Us":%d,"p99Us":%d,"statuses":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}\n',
    summary.requests, summary.bytes, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
