// Trusted key entries, the key sets that are fetched for them, and revoked keys, as an operator sees and changes them.
import { Delete, Get, Headers, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  ADD_ENTRY,
  CHANGE_ENTRY_POLICY,
  REMOVE_ENTRY,
  RESUME_ENTRY,
  SHOW_ENTRY,
  SUSPEND_ENTRY,
} from '../../administration/entries.operations.js';
import { anything, members, optional, storableText } from '../../administration/input.js';
import type { EntryKeySet } from '../../administration/key-sets.operations.js';
import { LIST_KEY_SETS } from '../../administration/key-sets.operations.js';
import type { ListedEntry } from '../../administration/list-entries.operation.js';
import { LIST_ENTRIES } from '../../administration/list-entries.operation.js';
import { listOperation } from '../../administration/operation.js';
import { LIST_REVOCATIONS, RESTORE_KEYS, REVOKE_KEYS } from '../../administration/revocations.operations.js';
import { flowsOf, policyInWords } from '../../token-exchange/instance.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import { KeySetRefresh } from './key-set-refresh.js';
import { Call, OperatorController } from './operator-call.decorator.js';
import type { OperatorCall } from './operator-calls.js';
import { OperatorCalls } from './operator-calls.js';

const readEntry = members({
  /** As it would be stored. */
  entry: anything,
  /** Secret. */
  token: optional(storableText),
});

/** A token is explained by the first that its entry has. */
const FLOWS = ['exchange', 'jwt-bearer', 'id-jag', 'embed'] as const;

/**
 * Says what the tokens of an entry may do, in phrases, and explains one by a flow of the entry. It changes nothing, and fetches
 * nothing: keys of a key set count once they were fetched.
 */
const CHECK_ENTRY = listOperation('keys try', readEntry, {
  async *list({ entry: value, token }, { storedEntries, explain, clock }) {
    const now = clock.now();
    const checked = await storedEntries.check(value, now);
    const { entry, problems, warnings, notes } = checked;
    const policy = entry === undefined ? [] : policyInWords(entry, now);
    const flow = FLOWS.find((one) => entry !== undefined && flowsOf(entry).has(one)) ?? 'exchange';
    const explanation =
      token === undefined || entry === undefined ? null : await explain({ flow, token }, [checked]);
    yield [{ problems, warnings, notes, policy, explanation }];
  },
});

@OperatorController()
export class OperatorEntryController {
  constructor(
    private readonly calls: OperatorCalls,
    private readonly refreshes: KeySetRefresh,
  ) {}

  @Get('entries')
  async list(@Call() call: OperatorCall) {
    const entries = await this.calls.read(LIST_ENTRIES, {}, call);
    return { data: await this.answers(entries, call) };
  }

  @Get('entries/:name')
  async show(@Param('name') name: string, @Call() call: OperatorCall) {
    const entries = await this.calls.read(LIST_ENTRIES, {}, call);
    const chosen = entries.filter((entry) => entry.name === name);
    const [answer] = await this.answers(chosen, call);
    if (answer === undefined) throw new OperatorRefusal('not_found');
    const definition = await this.calls.readOne(SHOW_ENTRY, { name }, call);
    return { ...answer, ...definition };
  }

  @Post('entries')
  add(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.calls.perform(ADD_ENTRY, body, call);
  }

  @Post('entries/check')
  @HttpCode(200)
  check(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.calls.readOne(CHECK_ENTRY, body, call);
  }

  /** Takes the whole entry, with the revision in `If-Match` (RFC 9110 §13.1.1) that its author has seen, so that no change is lost. */
  @Put('entries/:name')
  change(
    @Param('name') name: string,
    @JsonObject() entry: Record<string, unknown>,
    @Headers('if-match') ifMatch: string | undefined,
    @Call() call: OperatorCall,
  ) {
    const revision = /^"(\d+)"$/.exec(ifMatch ?? '')?.[1];
    if (revision === undefined)
      throw new OperatorRefusal('bad_request', 'If-Match must hold the revision of the entry, in quotes');
    return this.calls.perform(CHANGE_ENTRY_POLICY, { name, entry, revision }, call);
  }

  @Post('entries/:name/suspend')
  @HttpCode(200)
  suspend(@Param('name') name: string, @Call() call: OperatorCall) {
    return this.calls.perform(SUSPEND_ENTRY, { name }, call);
  }

  @Post('entries/:name/resume')
  @HttpCode(200)
  resume(@Param('name') name: string, @Call() call: OperatorCall) {
    return this.calls.perform(RESUME_ENTRY, { name }, call);
  }

  @Delete('entries/:name')
  remove(@Param('name') name: string, @Call() call: OperatorCall) {
    return this.calls.perform(REMOVE_ENTRY, { name }, call);
  }

  @Post('key-sets/:urlHash/refresh')
  @HttpCode(200)
  async refresh(@Param('urlHash') urlHash: string, @Call() call: OperatorCall) {
    return keySetAnswer(await this.refreshes.refresh(urlHash, call));
  }

  @Get('revocations')
  async revocations(@Call() call: OperatorCall) {
    return { data: await this.calls.read(LIST_REVOCATIONS, {}, call) };
  }

  @Post('revocations')
  revoke(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.calls.perform(REVOKE_KEYS, body, call);
  }

  @Post('revocations/restore')
  @HttpCode(200)
  restore(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.calls.perform(RESTORE_KEYS, body, call);
  }

  /** Each entry with its key set. */
  private async answers(entries: readonly ListedEntry[], call: OperatorCall) {
    const sets = await this.calls.read(LIST_KEY_SETS, {}, call);
    const byEntry = new Map(sets.map((set) => [set.entry, keySetAnswer(set)]));
    return entries.map((entry) => ({ ...entry, keySet: byEntry.get(entry.entry) ?? null }));
  }
}

/** Without whose it is and where. */
function keySetAnswer({ entry: _entry, url: _url, urlHash: _hash, ...answer }: EntryKeySet) {
  return answer;
}
