// Receives audit events by webhook and syslog during a measurement, and counts distinct events.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';

const { port, syslogPort } = JSON.parse(process.env.BENCH_SETTINGS);
const ID = /"id":"(\d+)"/g;
const arrived = { webhook: new Set(), syslog: new Set() };

createServer((socket) => {
  let unread = '';
  socket.setEncoding('latin1').on('data', (text) => {
    unread += text;
    // An incomplete message is kept until the rest arrives.
    const end = unread.lastIndexOf('}') + 1;
    note('syslog', unread.slice(0, end));
    unread = unread.slice(end);
  });
  socket.on('error', () => undefined);
}).listen(syslogPort, '127.0.0.1');

createHttpServer((request, response) => {
  if (request.method === 'GET') {
    const counts = { webhook: arrived.webhook.size, syslog: arrived.syslog.size };
    return void response.end(JSON.stringify(counts));
  }
  let body = '';
  request.setEncoding('latin1').on('data', (text) => (body += text));
  request.on('end', () => {
    note('webhook', body);
    response.writeHead(204).end();
  });
}).listen(port, '127.0.0.1');

function note(sink, text) {
  for (const [, id] of text.matchAll(ID)) arrived[sink].add(id);
}
