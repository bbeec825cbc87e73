// Trusted key entries, their fetched key sets, and revoked keys, for operators.
import { Delete, Get, Headers, HttpCode, Param, Post, Put } from '@nestjs/common';
import { Administration } from '../../administration/administration.js';
import type { ListedEntry } from '../../administration/entries/entries.operations.js';
import { EntryListOperations, EntryOperations } from '../../administration/entries/entries.operations.js';
import type { EntryKeySet } from '../../administration/keys/key-sets.operations.js';
import { KeySetOperations } from '../../administration/keys/key-sets.operations.js';
import { RevocationOperations } from '../../administration/keys/keys.operations.js';
import { CommandError } from '../../administration/operation.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import type { OperatorCall } from '../api/operator-call.decorator.js';
import { Call, OperatorController } from '../api/operator-call.decorator.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import { EntryCheck } from './entry-check.js';
import { withLabels } from './entry-form.js';

/** Longer than the leader takes to react and fetch, and shorter than the page waits for a response. */
const FETCH_WAIT_SECONDS = 20;

@OperatorController()
export class OperatorEntryController {
  constructor(
    private readonly administration: Administration,
    private readonly entries: EntryOperations,
    private readonly listed: EntryListOperations,
    private readonly keySets: KeySetOperations,
    private readonly revoked: RevocationOperations,
    private readonly checks: EntryCheck,
  ) {}

  @Get('entries')
  async list(@Call() call: OperatorCall) {
    const entries = await this.administration.perform(this.listed, 'list', {}, call);
    return { data: await this.answers(entries, call) };
  }

  @Get('entries/:name')
  async show(@Param('name') name: string, @Call() call: OperatorCall) {
    const entries = await this.administration.perform(this.listed, 'list', {}, call);
    const chosen = entries.filter((entry) => entry.name === name);
    const [answer] = await this.answers(chosen, call);
    if (answer === undefined) throw new OperatorRefusal('not_found');
    const definition = await this.administration.perform(this.entries, 'show', { name }, call);
    return { ...answer, ...definition };
  }

  @Post('entries')
  add(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.entries, 'add', body, call);
  }

  @Post('entries/check')
  @HttpCode(200)
  check(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.checks, 'check', body, call);
  }

  /**
   * Replaces the whole entry. `If-Match` (RFC 9110 §13.1.1) contains the revision that the author has seen,
   * so that no change is lost.
   */
  @Put('entries/:name')
  change(
    @Param('name') name: string,
    @JsonObject() entry: Record<string, unknown>,
    @Headers('if-match') ifMatch: string | undefined,
    @Call() call: OperatorCall,
  ) {
    const revision = /^"(\d+)"$/.exec(ifMatch ?? '')?.[1];
    if (revision === undefined)
      throw new OperatorRefusal('bad_request', 'If-Match must be the revision of the entry, in quotes');
    return this.administration.perform(this.entries, 'changePolicy', { name, entry, revision }, call);
  }

  @Post('entries/:name/suspend')
  @HttpCode(200)
  async suspend(@Param('name') name: string, @Call() call: OperatorCall) {
    const changed = await this.administration.perform(this.entries, 'suspend', { name }, call);
    return { ...changed, warnings: withLabels(changed.warnings) };
  }

  @Post('entries/:name/resume')
  @HttpCode(200)
  async resume(@Param('name') name: string, @Call() call: OperatorCall) {
    const changed = await this.administration.perform(this.entries, 'resume', { name }, call);
    return { ...changed, warnings: withLabels(changed.warnings) };
  }

  @Delete('entries/:name')
  remove(@Param('name') name: string, @Call() call: OperatorCall) {
    return this.administration.perform(this.entries, 'remove', { name }, call);
  }

  @Post('entries/:name/refresh')
  @HttpCode(200)
  async refresh(@Param('name') entry: string, @Call() call: OperatorCall) {
    const asked = { entry, wait: FETCH_WAIT_SECONDS };
    const [refreshed] = await this.administration.perform(this.keySets, 'refresh', asked, call);
    if (refreshed === undefined || refreshed.fetched === null)
      throw new CommandError(
        `No attempt within ${FETCH_WAIT_SECONDS} seconds: see the log of the leading instance.`,
      );
    return { failure: refreshed.failure };
  }

  @Get('revocations')
  async revocations(@Call() call: OperatorCall) {
    return { data: await this.administration.perform(this.revoked, 'list', {}, call) };
  }

  @Post('revocations')
  revoke(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.revoked, 'revoke', body, call);
  }

  @Post('revocations/restore')
  @HttpCode(200)
  restore(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.revoked, 'restore', body, call);
  }

  private async answers(entries: readonly ListedEntry[], call: OperatorCall) {
    const sets = await this.administration.perform(this.keySets, 'list', {}, call);
    const byEntry = new Map(sets.map((set) => [set.entry, keySetAnswer(set)]));
    return entries.map((entry) => ({
      ...entry,
      problems: withLabels(entry.problems),
      keySet: byEntry.get(entry.entry) ?? null,
    }));
  }
}

function keySetAnswer({ entry: _entry, url: _url, ...answer }: EntryKeySet) {
  return answer;
}
