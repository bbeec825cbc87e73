// Performs operations for an operator as for a command: the trail has each, with who asked and from where.
import { Injectable } from '@nestjs/common';
import { Administration } from '../../administration/administration.js';
import type { OperationRequest } from '../../administration/administration.js';
import type { ChangeOperation, ListOperation } from '../../administration/operation.js';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';

/** A call of the API. */
export interface OperatorCall {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly operator: LiveOperatorSession;
}

/** A page is read to its end: what is asked for is bounded. */
const NEVER = new AbortController().signal;

@Injectable()
export class OperatorCalls {
  constructor(private readonly administration: Administration) {}

  /** @throws CommandError when it cannot be done; nothing is changed then */
  perform<Input, Result>(
    operation: ChangeOperation<Input, Result>,
    input: unknown,
    call: OperatorCall,
  ): Promise<Result> {
    return this.administration.perform(operation, input, requestOf(call));
  }

  /** All items of a list. */
  async read<Input, Item>(
    operation: ListOperation<Input, Item>,
    input: unknown,
    call: OperatorCall,
  ): Promise<Item[]> {
    const all: Item[] = [];
    for await (const page of this.administration.list(operation, input, requestOf(call), NEVER))
      all.push(...page);
    return all;
  }

  /**
   * Reads for this page only.
   * @param things the things that it shows, by their names in the API
   */
  async show<Result>(
    name: string,
    things: Readonly<Record<string, string>>,
    call: OperatorCall,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const operation: ListOperation<unknown, Result> = {
      name,
      things: () => things,
      read: (input) => input,
      async *list() {
        yield [await work()];
      },
    };
    return this.readOne(operation, {}, call);
  }

  /** What a list of one holds. */
  async readOne<Input, Item>(
    operation: ListOperation<Input, Item>,
    input: unknown,
    call: OperatorCall,
  ): Promise<Item> {
    const [item] = await this.read(operation, input, call);
    if (item === undefined) throw new Error('a list of one was empty');
    return item;
  }
}

function requestOf({ requestId, clientAddress, operator }: OperatorCall): OperationRequest {
  return { id: requestId, way: 'operator', operator: { userId: operator.userId, clientAddress } };
}
