// An administrator of a service, who came in by a token exchange and calls its API.
import assert from 'node:assert/strict';
import { exchangeOnce } from './exchanges.mjs';
import { bearer } from './workflow-calls.mjs';

/** The longest life that access tokens have by default. */
const LIFETIME_SECONDS = 900;
const CLAIMS = { sub: 'administrator', email: 'administrator@partner.example', role: 'global:admin' };

export class Administrator {
  constructor(origin, token) {
    this.origin = origin;
    this.headers = bearer(token);
  }

  static async login(contestant, partner) {
    const subjectToken = await partner.sign('ES256', CLAIMS, LIFETIME_SECONDS);
    const { status, text } = await exchangeOnce(contestant, subjectToken);
    assert.equal(status, 200, text);
    return new Administrator(contestant.server.origin, JSON.parse(text).access_token);
  }

  async get(path) {
    return this.call('GET', path, undefined, 200);
  }

  /** Makes something and answers its id. */
  async make(path, body) {
    const { id } = await this.call('POST', path, body, 201);
    return id;
  }

  async call(method, path, body, expectedStatus) {
    const headers = { ...this.headers, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(new URL(path, this.origin), init);
    const text = await answer.text();
    assert.equal(answer.status, expectedStatus, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  }
}
