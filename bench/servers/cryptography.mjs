// Does only the cryptography of an exchange: it repeatedly verifies one ES256 signature and creates another.
//
// It uses node:crypto synchronously, one pair after another, and parses nothing. A request sets the number of pairs.
// The response has their CPU time.
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createServer } from 'node:http';

const { port, trustedKeys, token } = JSON.parse(process.env.BENCH_SETTINGS);
const trusted = trustedKeys.find(({ algorithms }) => algorithms.includes('ES256'));
const publicKey = { key: createPublicKey(trusted.key), dsaEncoding: 'ieee-p1363' };
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signingKey = { key: privateKey, dsaEncoding: 'ieee-p1363' };
const end = token.lastIndexOf('.');
const signingInput = Buffer.from(token.slice(0, end));
const signature = Buffer.from(token.slice(end + 1), 'base64url');

createServer(({ url }, response) => {
  const pairs = Number(new URL(url, 'http://localhost').searchParams.get('pairs'));
  response.end(JSON.stringify(workOff(pairs)));
}).listen(port, '127.0.0.1');

function workOff(pairs) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  for (let pair = 0; pair < pairs; pair += 1) {
    if (!verify('sha256', signingInput, publicKey, signature)) throw new Error('The signature is wrong.');
    sign('sha256', signingInput, signingKey);
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuMicros: user + system, seconds: (performance.now() - startedAt) / 1000 };
}
