// Reads and writes files that commands are given by path, including key pairs.
import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CommandError } from '../administration/operation.js';
import { PublicKeyError, readPublicKey } from '../administration/partners/public-key.js';
import { explainJsonError, JsonError, parseStrictJson } from '../platform/json/strict-json.js';
import { EncodingError, textOf } from '../platform/text/encoding.js';
import type { Algorithm, JwsSigner } from '../token-exchange/instance.js';
import { algorithmsFitting, keyFits, signatureParameters, thumbprintOf } from '../token-exchange/instance.js';
import type { CommandContext } from './command-context.js';

/** The base of relative paths. */
type PathContext = Pick<CommandContext, 'workingDirectory'>;

export interface NewFile {
  readonly path: string;
  readonly text: string;
  /** Only its owner may read and write it. */
  readonly isPrivate?: boolean;
}

interface WriteOptions {
  readonly force?: boolean;
  readonly withFolder?: boolean;
}

/** The path that means standard input. */
export const STANDARD_INPUT = '-';

/** @throws CommandError if the file cannot be read or is not UTF-8 */
export function readTextFile({ workingDirectory }: PathContext, path: string): string {
  return decoded(path, () => readFileSync(resolve(workingDirectory, path)));
}

function decoded(name: string, read: () => Uint8Array): string {
  try {
    return textOf(read());
  } catch (error) {
    const fault = error instanceof EncodingError ? error.message : `cannot be read (${codeOf(error)})`;
    throw new CommandError(`${name} ${fault}`);
  }
}

/**
 * Reads JSON from a file, or from standard input if the path is `-`.
 * @param what the expected content, such as `one entry`
 * @throws CommandError if it is not JSON
 */
export function readJsonFile(context: CommandContext, path: string, what: string): unknown {
  const text = readInput(context, path);
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`${inputName(path)} is not ${what}: ${explainJsonError(error, text)}`);
  }
}

export function readInput(context: CommandContext, path: string): string {
  return path === STANDARD_INPUT
    ? decoded(inputName(path), () => context.stdin.read())
    : readTextFile(context, path);
}

export function inputName(path: string): string {
  return path === STANDARD_INPUT ? 'Standard input' : path;
}

/**
 * Writes files, the private ones last: if another file cannot be written, the key to be replaced is not lost yet.
 * @throws CommandError if one exists (then none is written) or cannot be written
 */
export function writeFiles(context: PathContext, files: readonly NewFile[], options: WriteOptions): void {
  const inPlace = files.find(({ path }) => existsSync(resolve(context.workingDirectory, path)));
  if (inPlace !== undefined && options.force !== true)
    throw new CommandError(`${inPlace.path} exists already; --force replaces it`);
  const isSecret = ({ isPrivate }: NewFile) => isPrivate === true;
  const inOrder = [...files.filter((file) => !isSecret(file)), ...files.filter(isSecret)];
  for (const file of inOrder) writeFile(context, file, options);
}

/** Writes a file whole or not at all. It is filled under another name and has its mode from the first byte. */
function writeFile(
  { workingDirectory }: PathContext,
  { path, text, isPrivate }: NewFile,
  { withFolder }: WriteOptions,
): void {
  const target = resolve(workingDirectory, path);
  const draft = `${target}.${randomUUID()}`;
  try {
    if (withFolder === true) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { flag: 'wx', flush: true, mode: isPrivate === true ? 0o600 : 0o644 });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CommandError(`${path} cannot be written (${codeOf(error)})`);
  }
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

/** The contents of a key pair's files: private PEM, public PEM, and a key set to publish (RFC 7517). */
export function keyTexts(privateKey: KeyObject, kid: string, alg: Algorithm) {
  const publicKey = createPublicKey(privateKey);
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
  return {
    privatePem: privatePem(privateKey),
    publicPem: publicPem(publicKey),
    jwks: `${JSON.stringify({ keys: [jwk] }, null, 2)}\n`,
  };
}

/** Returns PEM (PKCS #8). */
export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function publicPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** The default `kid` of a key: its thumbprint (RFC 7638). */
export async function defaultKid(key: KeyObject): Promise<string> {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return (await thumbprintOf(publicKey)) ?? 'key-1';
}

/** @param path the path of its file @throws CommandError if it is a key of another kind */
export function signerOf(key: KeyObject, algorithm: Algorithm, path: string): JwsSigner {
  const publicKey = createPublicKey(key);
  if (keyFits(publicKey, algorithm)) return signatureParameters(algorithm, key);
  const fitting = algorithmsFitting(publicKey).join(', ') || 'none that is supported';
  throw new CommandError(`The key in ${path} does not fit ${algorithm}; it fits ${fitting}.`);
}

/** The properties of an entry with the public key in a file, PEM or JWK. @throws CommandError if the file has none */
export async function staticKey(path: string, kid: string | undefined, context: CommandContext) {
  try {
    const read = await readPublicKey(readTextFile(context, path));
    return { ...read, kid: kid ?? read.kid };
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new CommandError(`${path} must contain a public key as PEM or JWK: it ${error.message}.`);
  }
}

/** Reads PEM. @throws CommandError if the file contains none */
export function readPrivateKey(context: CommandContext, path: string): KeyObject {
  const pem = readTextFile(context, path);
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CommandError(`${path} contains no private key in PEM without a passphrase`);
  }
}
