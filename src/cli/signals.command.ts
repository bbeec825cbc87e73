// svc-admin signals: connects the stream of a transmitter of security events to this instance, shows it, and deletes it.
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { SignalOperations } from '../administration/signals/signals.operations.js';
import { printable } from '../administration/table.js';
import type { Transmitter } from '../token-exchange/instance.js';
import { EVENTS_PATH, REQUESTED_EVENTS } from '../token-exchange/instance.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-context.js';
import { readTextFile } from './files.js';
import { perform } from './operation-call.js';
import { StreamClient } from './stream-client.js';

const PUSH = 'urn:ietf:rfc:8935';

interface StreamOptions {
  /** Its issuer. */
  readonly transmitter: string;
  readonly tokenFile: string;
}

/** A stream's sender and receiver. */
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
