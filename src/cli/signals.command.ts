// svc-admin signals: connects the stream of a transmitter of security events to this instance, shows it, and deletes it.
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { CommandError } from '../administration/operation.js';
import { SignalOperations } from '../administration/signals/signals.operations.js';
import { printable } from '../administration/table.js';
import { isJsonObject, parseStrictJson } from '../platform/json/strict-json.js';
import { parsedUrl } from '../platform/text/url.js';
import type { Transmitter } from '../token-exchange/instance.js';
import { EVENTS_PATH, REQUESTED_EVENTS } from '../token-exchange/instance.js';
import { addCommand, perform } from './command.js';
import type { CommandContext } from './command-context.js';
import { codeOf, readTextFile } from './files.js';

const PUSH = 'urn:ietf:rfc:8935';

interface StreamOptions {
  /** Its issuer. */
  readonly transmitter: string;
  readonly tokenFile: string;
}

interface Ends {
  readonly transmitter: Transmitter;
  readonly client: StreamClient;
  /** The address at which this instance receives events. */
  readonly endpointUrl: string;
}

const COMMANDS = {
  connect: ['create or update a stream of security events, and verify it', connect],
  status: ['show the stream, as the transmitter describes it', showStatus],
  disconnect: ['delete the stream', disconnect],
} as const;

export function addSignalsCommands(program: Command, context: CommandContext): void {
  const signals = program
    .command('signals')
    .description("connect transmitters of security events, such as a company's identity provider");
  const example = '--transmitter https://login.company.example/realms/staff --token-file access.token';
  for (const [name, [about, run]] of Object.entries(COMMANDS))
    addCommand(signals, name, about, `signals ${name} ${example}`)
      .requiredOption('--transmitter <url>', 'its issuer in SVC_SIGNALS_TRANSMITTERS')
      .requiredOption('--token-file <file>', 'an access token for the stream endpoints of the transmitter')
      .action(async (options: StreamOptions) => run(context, await endsOf(context, options)));
}

async function connect(context: CommandContext, { transmitter, client, endpointUrl }: Ends): Promise<void> {
  const { issuer, audience, jwksUri, secret } = transmitter;
  if (client.metadata['jwks_uri'] !== jwksUri)
    throw new CommandError(
      `The transmitter publishes its keys at ${printable(String(client.metadata['jwks_uri']))}: set that as its jwksUri, and restart the service.`,
    );
  const present = await client.streamTo(endpointUrl);
  const stream = await client.write({
    ...(present && { stream_id: present['stream_id'] }),
    delivery: { method: PUSH, endpoint_url: endpointUrl, authorization_header: `Bearer ${secret}` },
    events_requested: REQUESTED_EVENTS,
  });
  const audiences = [stream['aud']].flat().map(String);
  if (!audiences.includes(audience))
    throw new CommandError(
      `The events of the stream have the audience ${printable(audiences.join(', '))}: set it as the audience of the transmitter, restart the service, and connect again.`,
    );
  const [streamId, state] = [String(stream['stream_id']), randomUUID()];
  await client.verify({ stream_id: streamId, state });
  const { hasArrived } = await perform(context, SignalOperations, 'verification', { issuer, state });
  if (!hasArrived)
    throw new CommandError(
      `The stream exists, but no verification event has arrived at ${endpointUrl}. The log says if one was refused.`,
    );
  const text = `The stream ${printable(streamId)} delivers events to ${endpointUrl}; a verification event has arrived.\n`;
  context.answers.give({ issuer, streamId, endpointUrl, verified: true }, text);
}

async function showStatus(context: CommandContext, ends: Ends): Promise<void> {
  const { streamId, stream } = await presentStream(ends);
  const { status = 'unknown', reason = null } = await ends.client.status(streamId);
  const events = [stream['events_delivered'] ?? []].flat().map(String);
  const shown = {
    streamId,
    status: String(status),
    reason,
    audience: [stream['aud']].flat().map(String),
    events,
  };
  const text = Object.entries(shown).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
  context.answers.give(shown, `${text.map(printable).join('\n')}\n`);
}

async function disconnect(context: CommandContext, ends: Ends): Promise<void> {
  const { streamId } = await presentStream(ends);
  await ends.client.delete(streamId);
  const text = `The stream ${printable(streamId)} is deleted. Users whom it disabled stay disabled.\n`;
  context.answers.give({ streamId }, text);
}

async function presentStream({ client, endpointUrl }: Ends) {
  const stream = await client.streamTo(endpointUrl);
  if (stream === undefined) throw new CommandError(`The transmitter has no stream to ${endpointUrl}.`);
  return { stream, streamId: String(stream['stream_id']) };
}

async function endsOf(
  context: CommandContext,
  { transmitter: issuer, tokenFile }: StreamOptions,
): Promise<Ends> {
  const names = ['transmitters', 'jwksAllowHttp', 'baseUrl', 'port', 'tlsCertificate'] as const;
  const { transmitters, jwksAllowHttp: allowHttp, baseUrl } = context.settings.read(...names);
  const transmitter = transmitters.find((one) => one.issuer === issuer);
  if (transmitter === undefined)
    throw new CommandError(
      `${context.settings.labelOf('transmitters')} has no transmitter with this issuer.`,
    );
  const token = readTextFile(context, tokenFile).trim();
  const client = await StreamClient.discovered({ issuer, token, allowHttp });
  return { transmitter, client, endpointUrl: baseUrl + EVENTS_PATH };
}

const PATIENCE_MS = 10_000;
const WELL_KNOWN = '/.well-known/ssf-configuration';
const NOT_FOUND = 404;

type Json = Readonly<Record<string, unknown>>;

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

class StreamClient {
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
