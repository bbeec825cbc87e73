// Sends what the partner's client sends, and keeps it.
import type { JWTPayload } from 'jose';
import { decodeJwt } from 'jose';

export class SentForms {
  readonly forms: URLSearchParams[] = [];

  /** To be given to the client in place of the global one. */
  readonly fetch: typeof fetch = (url, init) => {
    this.forms.push(new URLSearchParams(init?.body as URLSearchParams));
    return fetch(url, init);
  };

  get count(): number {
    return this.forms.length;
  }

  /** The claims of every token that was sent. */
  claims(): JWTPayload[] {
    return this.forms.flatMap((form) =>
      ['subject_token', 'actor_token'].flatMap((name) => form.getAll(name)).map((jwt) => decodeJwt(jwt)),
    );
  }

  jtis(): unknown[] {
    return this.claims().map(({ jti }) => jti);
  }
}
