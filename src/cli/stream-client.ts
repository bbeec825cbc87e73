// Manages a transmitter's stream of security events (OpenID Shared Signals Framework 1.0, sections 7 and 8).
import { CommandError } from '../administration/command-error.js';
import { printable } from '../administration/table.js';
import { isJsonObject, parseStrictJson } from '../platform/json/strict-json.js';
import { parsedUrl } from '../platform/text/url.js';
import { codeOf } from './files.js';

const PATIENCE_MS = 10_000;
const WELL_KNOWN = '/.well-known/ssf-configuration';
const NOT_FOUND = 404;

type Json = Readonly<Record<string, unknown>>;

/** A transmitter's address and secret. */
export interface Access {
  readonly issuer: string;
  /** Secret. Undefined: none is sent. */
  readonly token: string | undefined;
  readonly allowHttp: boolean;
}

interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: Json;
}

interface Answer {
  readonly status: number;
  /** Undefined if the answer is not JSON. */
  readonly value: unknown;
}

export class StreamClient {
  private constructor(
    private readonly access: Access,
    /** Only its issuer is checked. */
    readonly metadata: Json,
  ) {}

  /** @throws CommandError */
  static async discovered(access: Access): Promise<StreamClient> {
    const { issuer } = access;
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, '');
    // After the host (SSF 1.0 §7.2), or after the path, as Keycloak also has it.
    for (const url of new Set([origin + WELL_KNOWN + path, origin + path + WELL_KNOWN])) {
      // What is public needs no token.
      const { value } = await ask(url, { ...access, token: undefined }, {});
      if (isJsonObject(value) && value['issuer'] === issuer) return new StreamClient(access, value);
    }
    throw new CommandError(`${printable(issuer)} publishes no ${WELL_KNOWN} with this issuer.`);
  }

  /** Returns the stream that delivers to an address, or undefined. @throws CommandError */
  async streamTo(endpointUrl: string): Promise<Json | undefined> {
    const { status, value } = await ask(this.endpoint('configuration_endpoint'), this.access, {});
    if (status === NOT_FOUND) return undefined;
    const streams = good({ status, value }, 'the streams');
    return [streams].flat().find((stream): stream is Json => {
      const delivery = isJsonObject(stream) ? stream['delivery'] : undefined;
      return isJsonObject(delivery) && delivery['endpoint_url'] === endpointUrl;
    });
  }

  /** Creates a stream, or changes the stream whose id is in the body. @throws CommandError */
  async write(body: Json): Promise<Json> {
    const method = body['stream_id'] === undefined ? 'POST' : 'PATCH';
    const value = await this.call('configuration_endpoint', { method, body }, 'the stream');
    if (isJsonObject(value)) return value;
    throw new CommandError('The transmitter does not describe the stream.');
  }

  /** @throws CommandError */
  async verify(body: Json): Promise<void> {
    await this.call('verification_endpoint', { method: 'POST', body }, 'the verification');
  }

  /** @throws CommandError */
  async status(streamId: string): Promise<Json> {
    const value = await this.call('status_endpoint', {}, 'the status', streamId);
    return isJsonObject(value) ? value : {};
  }

  /** @throws CommandError */
  async delete(streamId: string): Promise<void> {
    await this.call('configuration_endpoint', { method: 'DELETE' }, 'the deletion', streamId);
  }

  private async call(endpoint: string, call: Call, what: string, streamId?: string): Promise<unknown> {
    const url = new URL(this.endpoint(endpoint));
    if (streamId !== undefined) url.searchParams.set('stream_id', streamId);
    return good(await ask(url.href, this.access, call), what);
  }

  private endpoint(name: string): string {
    const url = this.metadata[name];
    const parsed = typeof url === 'string' ? parsedUrl(url) : undefined;
    if (parsed === undefined) throw new CommandError(`The transmitter publishes no ${name}.`);
    if (parsed.origin === new URL(this.access.issuer).origin) return parsed.href;
    throw new CommandError(
      `The transmitter publishes its ${name} at ${printable(parsed.origin)}, which is not the issuer's origin: the token is not sent there.`,
    );
  }
}

const NOT_ACCEPTED = ': the token of --token-file is not accepted';
const HINTS: Readonly<Record<number, string>> = {
  401: NOT_ACCEPTED,
  403: NOT_ACCEPTED,
  429: ': it was asked too often; try again in a minute',
};

/** @throws CommandError if the transmitter refuses. Omits its message, which may repeat what was sent. */
function good({ status, value }: Answer, what: string): unknown {
  if (status >= 200 && status < 300) return value;
  const hint = HINTS[status] ?? '';
  throw new CommandError(`The transmitter refuses ${what} with status ${status}${hint}.`);
}

async function ask(url: string, { token, allowHttp }: Access, { method, body }: Call): Promise<Answer> {
  const { protocol, host } = new URL(url);
  if (protocol !== 'https:' && !(allowHttp && protocol === 'http:'))
    throw new CommandError(`${printable(host)} is not asked, because its address is not https:.`);
  const headers = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const answer = await fetch(url, {
      ...{ method, headers, body: body && JSON.stringify(body), redirect: 'error', signal },
    });
    return { status: answer.status, value: jsonOf(await answer.text()) };
  } catch (error) {
    const { cause = error } = error as Error;
    throw new CommandError(`${printable(host)} does not answer (${codeOf(cause)}).`);
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch {
    return undefined;
  }
}
