// Tries an entry out, before it is stored.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { InstanceExplainer } from '../../administration/explain/instance-explainer.js';
import { Read } from '../../administration/operation.js';
import { Clock } from '../../platform/clock.js';
import {
  ACCESS_FLOWS,
  ISSUING_FLOWS,
  StoredEntryChanges,
  flowsOf,
  policyInWords,
} from '../../token-exchange/instance.js';
import { storableString } from '../../platform/input/schemas.js';
import { inputOf } from '../../administration/input.js';

const readEntry = inputOf({
  /** As it would be stored. */
  entry: z.unknown(),
  /** Secret. */
  token: storableString().optional(),
});

@Injectable()
export class EntryCheck {
  constructor(
    private readonly entries: StoredEntryChanges,
    private readonly explainer: InstanceExplainer,
    private readonly clock: Clock,
  ) {}

  /**
   * Says what the tokens of an entry may do, in phrases, and explains one by a flow of the entry. It changes nothing, and fetches
   * nothing: keys of a key set count once they were fetched.
   */
  @Read('keys try', readEntry)
  async check({ entry: value, token }: ReturnType<typeof readEntry>) {
    const now = this.clock.now();
    const checked = await this.entries.check(value, now);
    const { entry, problems, warnings, notes } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, now);
    // A session is the last choice, because most entries allow one.
    const flows = [...ISSUING_FLOWS, ...ACCESS_FLOWS];
    const flow = flows.find((one) => entry !== undefined && flowsOf(entry).has(one)) ?? 'exchange';
    const explanation =
      token === undefined || entry === undefined
        ? null
        : await this.explainer.explain({ flow, token }, [checked]);
    return { problems, warnings, notes, policy, explanation };
  }
}
