// An administrative operation is one request to the instance: by a command, in its own process or through the running service, or by
// the operator's page. It is a method of an injectable class, with a decorator that names it.
import type { Type } from '@nestjs/common';
import { SetMetadata } from '@nestjs/common';
import { MetadataScanner, Reflector } from '@nestjs/core';
import type { AuditContext, AuditEvent } from '../token-exchange/instance.js';
import type { Transaction } from '../platform/database/transaction.js';
import type { User } from '../users/user.repository.js';

/** What an operation gets and returns is JSON, since it may pass through a socket. */
export interface OperationRules {
  /** As its command is typed: `users create`. */
  readonly name: string;
  readonly kind: 'change' | 'read' | 'stream';
  /**
   * Checks an input.
   * @throws InputError for the first member that breaks its rule
   */
  read(input: unknown): unknown;
  /**
   * The user whom a change concerns, by id or e-mail address. At the operator's page only the owner changes the owner (D121). The row
   * is locked together with the row of the operator who asks: every change locks them in one order, so no two changes wait for each
   * other.
   */
  changedUser?(input: never): string;
  /** A reading that causes something is recorded each time. */
  readonly isAct?: true;
  /** The things that are read, for the trail: local ids by their names in the API; left out: all. */
  things?(input: never): Readonly<Record<string, string>>;
}

type Decorator<Method> = <Own extends Method>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<Own>,
) => void;

/**
 * Changes something in one transaction, whole or not at all. Every statement goes through the transaction, also a reading one: the
 * embedded database has one connection. The method may run again if it lost a race (`Transactions`), so it must not touch anything
 * else.
 */
export function Change<Input>(
  name: string,
  read: (input: unknown) => Input,
  rules: { changedUser?(input: Input): string } = {},
): Decorator<(input: Input, work: ChangeWork) => Promise<Changed<unknown>>> {
  return declared({ ...rules, name, kind: 'change', read });
}

/** Reads an answer as a whole. */
export function Read<Input>(
  name: string,
  read: (input: unknown) => Input,
  rules: { readonly isAct?: true; things?(input: Input): Readonly<Record<string, string>> } = {},
): Decorator<(input: Input, stop: AbortSignal) => Promise<unknown>> {
  return declared({ ...rules, name, kind: 'read', read });
}

/** Reads page by page what may be longer than memory holds, or endless. It ends when the client disconnects or the service stops. */
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

/** An operation, and where its method is. */
export interface Operation extends OperationRules {
  readonly type: Type<object>;
  readonly method: string;
}

const reflector = new Reflector();
const scanner = new MetadataScanner();

/** The operations of a class. */
export function operationsOf(type: Type<object>): Operation[] {
  const prototype = type.prototype as Readonly<Record<string, () => unknown>>;
  return scanner.getAllMethodNames(prototype).flatMap((method) => {
    const rules = reflector.get<OperationRules | undefined>(RULES, prototype[method] as () => unknown);
    return rules === undefined ? [] : [{ ...rules, type, method }];
  });
}

/** @throws Error for a method that is no operation */
export function operationOf<T extends object>(type: Type<T>, method: OperationName<T>): Operation {
  const operation = operationsOf(type).find((one) => one.method === method);
  if (operation === undefined) throw new Error(`${type.name}.${method} is no operation`);
  return operation;
}

/** The names of methods. */
export type OperationName<T> = {
  [M in keyof T]: T[M] extends (input: never, ...more: never[]) => Promise<unknown> | AsyncIterable<unknown>
    ? M
    : never;
}[keyof T] &
  string;

export type InputOf<T, M extends keyof T> = T[M] extends (input: infer Input, ...more: never[]) => unknown
  ? Input
  : never;

/** The answer of an operation; of a stream, all its items. */
export type AnswerOf<T, M extends keyof T> = T[M] extends (
  ...given: never[]
) => Promise<Changed<infer Result>>
  ? Result
  : T[M] extends (...given: never[]) => Promise<infer Answer>
    ? Answer
    : T[M] extends (...given: never[]) => AsyncIterable<readonly (infer Item)[]>
      ? readonly Item[]
      : never;

/** What a change works with. */
export interface ChangeWork {
  readonly transaction: Transaction;
  /** For events of its own. */
  readonly context: AuditContext;
  /** The operator who asks, locked and checked in this transaction; undefined: a command, which may all. */
  readonly operator?: User;
}

export interface Changed<Result> {
  readonly result: Result;
  /** The changed things: local ids by their names in the API, `userId` for example. Never an e-mail address. */
  readonly things: Readonly<Record<string, string>>;
  /** What happened besides: recorded in the same transaction, and published after it. */
  readonly events?: readonly AuditEvent[];
  /** Runs after the commit: updates what this process keeps of the changed data in memory. */
  readonly applied?: () => Promise<void>;
}
