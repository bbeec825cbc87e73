// /api/v1/audit-events: reads the audit trail.
import { Get, Query } from '@nestjs/common';
import { AuditTrailReader, shownEvent, shownPage } from '../../audit/audit-trail.reader.js';
import {
  checkCursor,
  checkEvent,
  checkRange,
  checkReason,
  checkText,
  MAX_CURSOR_CHARACTERS,
  MAX_DAYS,
  MAX_FILTER_CHARACTERS,
  REASONS,
} from '../../audit/trail-filter.js';
import { Clock } from '../../platform/clock.js';
import type { Checked } from '../../platform/input/schemas.js';
import { moment, readBy } from '../../platform/input/schemas.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { idParameter, pageQuery, parameter } from '../api/request-input.pipe.js';
import { ApiController } from '../operations/api-controller.decorator.js';
import { Operation, OptionalQuery, PageQueries } from '../operations/operation.decorator.js';
import { AuditEventPageAnswer } from './audit-event.dto.js';

const momentParameter = () =>
  parameter()
    .pipe(moment())
    .transform((text) => new Date(text))
    .optional();
const checkedBy = <T>(check: (text: string) => Checked<T>) => readBy(parameter(), check).optional();

const listQuery = pageQuery({
  event: checkedBy(checkEvent),
  userId: idParameter(),
  subjectUserId: idParameter(),
  issuer: checkedBy(checkText),
  kid: checkedBy(checkText),
  reason: checkedBy(checkReason),
  requestId: checkedBy(checkText),
  since: momentParameter(),
  until: momentParameter(),
});

/** The characters of event names, as a pattern for JSON Schema. */
const EVENT_PATTERN = '^[a-z.-]*\\*?$';

const TEXT = { type: 'string', minLength: 1, maxLength: MAX_FILTER_CHARACTERS } as const;
const USER_ID = { type: 'string', format: 'uuid' } as const;
const MOMENT = { type: 'string', format: 'date-time' } as const;

@ApiController('audit-events', 'Audit events')
export class AuditEventController {
  constructor(
    private readonly trail: AuditTrailReader,
    private readonly clock: Clock,
  ) {}

  /** @rule D84 Only the owner and administrators read the trail, and tokens that have the scope. */
  @Get()
  @Operation({
    summary: 'List the events of the audit trail, the newest first',
    description:
      `The last day is looked through unless since or until say otherwise, ${MAX_DAYS} days at most; with requestId alone ` +
      'the whole trail. A page looks at a limited number of events: one may have fewer than are asked for, or none, though ' +
      'there are more. lookedBackTo says how far it has come; only the one without nextCursor is the last. What is written ' +
      'between two pages does not change those that follow.',
    right: 'audit:read',
    isAlwaysRecorded: true,
    answer: { status: 200, is: AuditEventPageAnswer },
    errors: [400],
  })
  @PageQueries(MAX_CURSOR_CHARACTERS, 'unchanged, with the same filters')
  @OptionalQuery(
    'event',
    'Its name, or the beginning of some with * at the end; svc.audit. may be left out',
    {
      ...TEXT,
      pattern: EVENT_PATTERN,
    },
  )
  @OptionalQuery('userId', 'Id of the subject or the actor', USER_ID)
  @OptionalQuery('subjectUserId', 'Id of the subject, which has an index', USER_ID)
  @OptionalQuery('issuer', 'The issuer in its payload, character by character', TEXT)
  @OptionalQuery('kid', 'The `kid` in its payload', TEXT)
  @OptionalQuery('reason', 'The reason of a refusal', { type: 'string', enum: [...REASONS].sort() })
  @OptionalQuery('requestId', 'The X-Request-Id of an answer, which has an index', TEXT)
  @OptionalQuery('since', 'From then on', MOMENT)
  @OptionalQuery('until', 'Before then; up to now unless given', MOMENT)
  async list(
    @Query(listQuery) { limit, cursor, since, until, ...filter }: ReturnType<typeof listQuery.transform>,
  ): Promise<AuditEventPageAnswer> {
    // A cursor contains the time range of the first page.
    const place =
      cursor === undefined
        ? { range: valueOf(checkRange({ since, until }, filter, this.clock.now()), 'since') }
        : valueOf(checkCursor(cursor), 'cursor');
    const page = await this.trail.page({ filter, place, order: 'newest', limit });
    const { range } = place;
    return {
      ...shownPage(page, shownEvent),
      since: range.since?.toISOString() ?? null,
      until: range.until?.toISOString() ?? null,
    };
  }
}

/** @throws ApiRefusal `bad_request` */
function valueOf<T>(checked: Checked<T>, name: string): T {
  if ('value' in checked) return checked.value;
  throw new ApiRefusal('bad_request', `${name} ${checked.rule}`);
}
