// Checks the service in this container; exits with 0 if it is alive, otherwise with 1. See HEALTHCHECK in the Dockerfile.
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import process from 'node:process';

/** Less than Docker's three seconds, so that this program can print the cause. */
const PATIENCE_MS = 2_500;

const { SVC_PORT, PORT, SVC_SSL_CERT, SVC_SSL_CERT_FILE } = process.env;
const isSecure = Boolean(SVC_SSL_CERT || SVC_SSL_CERT_FILE);
const address = {
  host: '127.0.0.1',
  port: SVC_PORT || PORT || 5678,
  path: '/healthz',
  timeout: PATIENCE_MS,
  // The certificate is for the instance's name, not for this address. The request contains no secret.
  rejectUnauthorized: false,
};

const request = (isSecure ? getHttps : getHttp)(address, ({ statusCode }) => {
  if (statusCode !== 200) fail(`/healthz answered ${statusCode}`);
  process.exit(0);
});
request.on('timeout', () => fail('/healthz did not answer in time'));
request.on('error', ({ code, message }) => fail(`/healthz cannot be reached: ${code ?? message}`));

function fail(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
