// An administrative operation is one request to the instance: from a command, directly or through the running
// service, or from the operator's page. It is a method of an injectable class, with a decorator that names
// it.
import type { Type } from '@nestjs/common';
import { SetMetadata } from '@nestjs/common';
import { MetadataScanner, Reflector } from '@nestjs/core';
import { z } from 'zod';
import type { Transaction } from '../platform/database/transaction.js';
import type {
  AuditContext,
  AuditEvent,
  ExplanationRules,
  StoredEntriesRules,
  Transmitter,
} from '../token-exchange/instance.js';
import type { User } from '../users/user.repository.js';

/**
 * Creates a parser for inputs with these properties. It throws InputError for the first property that breaks
 * its rule.
 */
export function inputOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const schema = z.strictObject(shape, 'must be an object');
  const known = Object.keys(shape).join(', ') || 'none';
  return (input: unknown): z.output<typeof schema> => {
    const { success, data, error } = schema.safeParse(input);
    if (success) return data;
    const [issue] = error.issues;
    if (issue?.code === 'unrecognized_keys')
      throw new InputError('The input', `has an unknown property; known are ${known}`);
    throw new InputError(String(issue?.path[0] ?? 'The input'), issue?.message ?? 'is refused');
  };
}

export const readNothing = inputOf({});

/** The rules of an operation. Input and result are JSON, because they may pass through a socket. */
export interface OperationRules {
  /** The name as typed on the command line: `users create`. */
  readonly name: string;
  readonly kind: 'change' | 'read' | 'stream';
  /**
   * Validates an input.
   * @throws InputError for the first property that breaks its rule
   */
  read(input: unknown): unknown;
  /**
   * The user whom a change affects, by id or e-mail address. On the operator's page, only the owner changes
   * the owner (D121). The user's row is locked together with the requesting operator's: every change locks
   * them in one order, so that no two changes wait for each other.
   */
  changedUser?(input: never): string;
  /** A read with side effects is always recorded. */
  readonly isAct?: true;
  /** The objects that are read, for the trail: local ids by their names in the API; undefined: all. */
  targets?(input: never): Readonly<Record<string, string>>;
}

type Decorator<Method> = <Own extends Method>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<Own>,
) => void;

/**
 * Changes something in one transaction, completely or not at all. Every statement, also a read, must use the
 * transaction, because the embedded database has one connection. The method may run again after a lost race
 * (`Transactions`), so it must not have other effects.
 */
export function Change<Input>(
  name: string,
  read: (input: unknown) => Input,
  rules: { changedUser?(input: Input): string } = {},
): Decorator<(input: Input, work: ChangeWork) => Promise<Changed<unknown>>> {
  return declared({ ...rules, name, kind: 'change', read });
}

export function Read<Input>(
  name: string,
  read: (input: unknown) => Input,
  rules: { readonly isAct?: true; targets?(input: Input): Readonly<Record<string, string>> } = {},
): Decorator<(input: Input, stop: AbortSignal) => Promise<unknown>> {
  return declared({ ...rules, name, kind: 'read', read });
}

/**
 * Reads page by page what may be too long for memory, or endless. Ends when the client disconnects or the
 * service stops.
 */
export function Stream<Input>(
  name: string,
  read: (input: unknown) => Input,
): Decorator<(input: Input, stop: AbortSignal) => AsyncIterable<readonly unknown[]>> {
  return declared({ name, kind: 'stream', read });
}

const RULES = 'rules of an operation';

function declared(rules: OperationRules) {
  return SetMetadata(RULES, rules);
}

export interface Operation extends OperationRules {
  readonly type: Type<object>;
  readonly method: string;
}

const reflector = new Reflector();
const scanner = new MetadataScanner();

export function operationsOf(type: Type<object>): Operation[] {
  const prototype = type.prototype as Readonly<Record<string, () => unknown>>;
  return scanner.getAllMethodNames(prototype).flatMap((method) => {
    const rules = reflector.get<OperationRules | undefined>(RULES, prototype[method] as () => unknown);
    return rules === undefined ? [] : [{ ...rules, type, method }];
  });
}

/** @throws Error if the method is not an operation */
export function operationOf<T extends object>(type: Type<T>, method: OperationName<T>): Operation {
  const operation = operationsOf(type).find((one) => one.method === method);
  if (operation === undefined) throw new Error(`${type.name}.${method} is no operation`);
  return operation;
}

export type OperationName<T> = {
  [M in keyof T]: T[M] extends (input: never, ...more: never[]) => Promise<unknown> | AsyncIterable<unknown>
    ? M
    : never;
}[keyof T] &
  string;

export type InputOf<T, M extends keyof T> = T[M] extends (input: infer Input, ...more: never[]) => unknown
  ? Input
  : never;

/** The result of an operation; for a stream, all its items. */
export type AnswerOf<T, M extends keyof T> = T[M] extends (
  ...given: never[]
) => Promise<Changed<infer Result>>
  ? Result
  : T[M] extends (...given: never[]) => Promise<infer Answer>
    ? Answer
    : T[M] extends (...given: never[]) => AsyncIterable<readonly (infer Item)[]>
      ? readonly Item[]
      : never;

export interface ChangeWork {
  readonly transaction: Transaction;
  /** For its own events. */
  readonly context: AuditContext;
  /**
   * The requesting operator, locked and checked in this transaction; undefined for a command, which may do
   * everything.
   */
  readonly operator?: User;
}

export interface Changed<Result> {
  readonly result: Result;
  /**
   * The changed objects: local ids by their names in the API, for example `userId`. Never an e-mail address.
   */
  readonly targets: Readonly<Record<string, string>>;
  /** Further events, recorded in the same transaction and published after it. */
  readonly events?: readonly AuditEvent[];
  /** Runs after the commit: updates this process's in-memory copy of the changed data. */
  readonly applied?: () => Promise<void>;
}

/** A command cannot do its work, for a reason that its user can fix. Never contains secrets. */
export class CommandError extends Error {
  /** @param details one line each, listed below the message */
  constructor(
    readonly summary: string,
    readonly details: readonly string[] = [],
  ) {
    super([summary, ...details.map((line) => `  - ${line}`)].join('\n'));
    this.name = 'CommandError';
  }
}

/** The operator was disabled, or lost the role, after the request arrived. */
export class ActorError extends CommandError {
  constructor() {
    super('You are no longer an operator.');
    this.name = 'ActorError';
  }
}

export class InputError extends CommandError {
  /**
   * @param member the invalid property
   * @param rule in words that follow the property's name
   */
  constructor(
    readonly member: string,
    readonly rule: string,
  ) {
    super(`${member} ${rule}.`);
    this.name = 'InputError';
  }
}

export abstract class AdministrationSettings {
  /** The configured entries, and the rules for stored ones. @throws ConfigurationError */
  abstract get trust(): StoredEntriesRules;

  /** The variable, and the file if there is one, with the configured entries. */
  abstract get configuredIn(): string;

  /** The transmitters of security events. @throws ConfigurationError */
  abstract get transmitters(): readonly Transmitter[];

  /** The rules for tokens that the service receives. @throws ConfigurationError */
  abstract explanationRules(): Promise<ExplanationRules>;
}
