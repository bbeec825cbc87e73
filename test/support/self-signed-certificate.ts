// Makes throw-away certificates for HTTPS servers of the tests, with the openssl command.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity } from './jwks-server.js';

/** A certificate for one host name, valid for a day, that is its own authority. @throws Error without openssl */
export function makeSelfSignedCertificate(hostname: string, address?: string): Identity {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    execFileSync('openssl', [...REQUEST, '-keyout', key, '-out', cert, ...subjectOf(hostname, address)], {
      stdio: 'ignore',
    });
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const REQUEST = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1'.split(' ');

function subjectOf(hostname: string, address?: string): string[] {
  const names = [`DNS:${hostname}`, ...(address === undefined ? [] : [`IP:${address}`])];
  return ['-subj', `/CN=${hostname}`, '-addext', `subjectAltName=${names.join()}`];
}
