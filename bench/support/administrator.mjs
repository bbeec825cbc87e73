// An administrator of a service, who came in by a token exchange and calls its API.
import assert from 'node:assert/strict';
import { accessTokens, bearer } from './exchanges.mjs';

const CLAIMS = { sub: 'administrator', email: 'administrator@partner.example', role: 'global:admin' };

export class Administrator {
  constructor(origin, token) {
    this.origin = origin;
    this.headers = bearer(token);
    this.jsonHeaders = { ...this.headers, 'content-type': 'application/json' };
  }

  static async login(contestant, partner) {
    const [token] = await accessTokens(contestant, partner, [CLAIMS]);
    return new Administrator(contestant.server.origin, token);
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
    const init = { method, headers: this.jsonHeaders, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(new URL(path, this.origin), init);
    const text = await answer.text();
    assert.equal(answer.status, expectedStatus, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  }
}
