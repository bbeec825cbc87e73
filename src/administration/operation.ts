// An administrative operation is one request to the instance: of a command, in its own process or through the running service, or of
// the operator's page. It is declared once: the command socket and the table of commands follow.
import type { AuditContext, AuditEvent } from '../token-exchange/instance.js';
import type { Transaction } from '../platform/database/transaction.js';
import type { User } from '../users/user.repository.js';
import type { InstanceParts } from './instance-parts.js';

/** How an argument is written in help, what it is, and the words that it may be. */
export type Argument = readonly [flags: string, what: string, choices?: readonly string[]];

/**
 * What the command line makes the command of an operation from. Members of the input that it does not take as arguments are options,
 * which the command line adds.
 */
export interface OperationCommand<Input, Answer> {
  /** The first line of its help. */
  readonly about: string;
  /** Arguments by the members that they are, in the order in which they are typed. */
  readonly takes?: Readonly<Record<string, Argument>>;
  /** What help says between options and example. */
  readonly more?: string;
  /** What is typed behind the name of the command in its example, if anything. */
  readonly example?: string;
  /** The answer for people; of a list, of all its items. */
  text(answer: Answer, input: Input): string;
  /** The answer for programs, where it is another than that of the operation. */
  json?(answer: Answer, input: Input): unknown;
  /** Said of an empty list, of which nothing is printed. */
  readonly nothing?: string;
}

/** Inputs, results and items are JSON values, since they may go through a socket. */
interface NamedOperation<Input, Answer> {
  /** As its command is typed: `users create`. */
  readonly name: string;
  /**
   * Checks an input. Members that are options of the command have their names: `givenName` is `--given-name`.
   * @throws InputError for the first member that breaks its rule
   */
  read(input: unknown): Input;
  /** Left out where the command does more than this operation, or there is none. */
  readonly command?: OperationCommand<Input, Answer>;
}

/** Changes something, whole or not at all. */
export interface ChangeOperation<Input = unknown, Result = unknown> extends NamedOperation<Input, Result> {
  /**
   * The user whom it changes, by id or e-mail address. At the operator's page only the owner changes the owner (D122). The row is
   * locked together with that of the operator who asks: all take them in one order, so that two who change each other do not wait
   * in a ring.
   */
  changedUser?(input: Input): string;
  /**
   * Every statement goes through the transaction, also a reading one: the embedded database has one connection. It may be
   * run again where it lost a race (`Transactions`), so it must not touch anything else.
   * @throws CommandError when it cannot be done; nothing is changed then
   */
  change(input: Input, work: ChangeWork): Promise<Changed<Result>>;
  /** After the commit: updates the parts of this process that keep the changed data in memory. */
  applied?(parts: InstanceParts): Promise<void>;
}

/** Reads, or waits for what others do, page by page, so that no answer holds the service up, however long the list is. */
export interface ListOperation<Input = unknown, Item = unknown> extends NamedOperation<
  Input,
  readonly Item[]
> {
  /** Whether it causes something: then the trail has it each time. */
  readonly isAct?: true;
  /** The things that are read, for the trail: local ids by their names in the API; left out: all. */
  things?(input: Input): Readonly<Record<string, string>>;
  /**
   * A page may be empty, so that the reader of a long list can check between pages whether its client is still connected.
   * @param stop the client has disconnected, or the service stops: endless lists end then
   */
  list(input: Input, parts: InstanceParts, stop: AbortSignal): AsyncIterable<readonly Item[]>;
}

/** The types of its input and result follow from its members. */
export function changeOperation<Input, Result>(
  name: string,
  read: (input: unknown) => Input,
  rest: Omit<ChangeOperation<Input, Result>, 'name' | 'read'>,
): ChangeOperation<Input, Result> {
  return { name, read, ...rest };
}

/** The types of its input and items follow from its members. */
export function listOperation<Input, Item>(
  name: string,
  read: (input: unknown) => Input,
  rest: Omit<ListOperation<Input, Item>, 'name' | 'read'>,
): ListOperation<Input, Item> {
  return { name, read, ...rest };
}

export type Operation = ChangeOperation | ListOperation;

/** What a change works with. */
export interface ChangeWork {
  readonly parts: InstanceParts;
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
}
