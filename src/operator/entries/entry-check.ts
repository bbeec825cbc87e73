// Tests an entry before it is stored.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { InstanceExplainer } from '../../administration/explain/explain-token.operation.js';
import { inputOf, Read } from '../../administration/operation.js';
import { Clock } from '../../platform/clock.js';
import { storableString } from '../../platform/input/schemas.js';
import {
  ACCESS_FLOWS,
  flowsOf,
  ISSUING_FLOWS,
  policyInWords,
  StoredEntryChanges,
} from '../../token-exchange/instance.js';
import { withLabels } from './entry-form.js';

const readEntry = inputOf({
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
   * Describes what an entry's tokens may do, and explains a token with one of the entry's flows. Changes and
   * fetches nothing: keys of a key set are used only if they were already fetched.
   */
  @Read('keys try', readEntry)
  async check({ entry: value, token }: ReturnType<typeof readEntry>) {
    const now = this.clock.now();
    const checked = await this.entries.check(value, now);
    const { entry, problems, warnings } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, now);
    // Sessions come last, because most entries allow them.
    const flows = [...ISSUING_FLOWS, ...ACCESS_FLOWS];
    const flow = flows.find((one) => entry !== undefined && flowsOf(entry).has(one)) ?? 'exchange';
    const explanation =
      token === undefined || entry === undefined
        ? null
        : await this.explainer.explain({ flow, token }, [checked]);
    return { problems, warnings: withLabels(warnings), policy, explanation };
  }
}
