// Adds the token to requests for adze mcp serve: the conformance suite has no way
// to give one. All else, Host and Origin above all, stays as it came.
//
//   node proxy.mjs URL TOKEN    prints the port that it listens on
import http from "node:http";

const [target, token] = process.argv.slice(2);
const to = new URL(target);
const server = http.createServer((req, res) => {
  const out = http.request({ host: to.hostname, port: to.port, path: to.pathname, method: req.method, headers: { ...req.headers, authorization: `Bearer ${token}` } }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  out.on("error", () => res.destroy());
  res.on("close", () => out.destroy());
  req.pipe(out);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
