// Reads the query of a page of the audit trail: filters, time and place.
import type { PipeTransform } from '@nestjs/common';
import type { Checked, TimeRange, TrailFilter, TrailPlace } from '../../audit/trail-filter.js';
import { checkCursor, checkEvent, checkReason, checkText } from '../../audit/trail-filter.js';
import { momentOf } from '../../platform/text/moment.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { PageQuery } from '../api/query.pipe.js';
import { QueryPipe, readId } from '../api/query.pipe.js';

export interface AuditEventQuery extends Pick<PageQuery, 'limit'> {
  readonly filter: TrailFilter;
  /** As it was given; nothing is filled in. */
  readonly range: TimeRange;
  /** Where a page after the first one begins, in the time of the first. */
  readonly place?: TrailPlace;
}

export class AuditEventQueryPipe implements PipeTransform<Record<string, unknown>, AuditEventQuery> {
  private readonly parameters = new QueryPipe({
    event: checkedBy(checkEvent),
    userId: readId,
    subjectUserId: readId,
    issuer: checkedBy(checkText),
    kid: checkedBy(checkText),
    reason: checkedBy(checkReason),
    requestId: checkedBy(checkText),
    since: readMoment,
    until: readMoment,
  });

  transform(query: Record<string, unknown>): AuditEventQuery {
    const { limit, cursor, since, until, ...filter } = this.parameters.transform(query);
    const place = cursor === undefined ? undefined : checkedBy(checkCursor)(cursor, 'cursor');
    return { limit, place, filter, range: { since, until } };
  }
}

function checkedBy<T>(check: (text: string) => Checked<T>) {
  return (text: string, name: string) => {
    const checked = check(text);
    if ('value' in checked) return checked.value;
    throw new ApiRefusal('bad_request', `${name} ${checked.rule}`);
  };
}

function readMoment(text: string, name: string): Date {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  throw new ApiRefusal(
    'bad_request',
    `${name} must be a date or a time with its zone, such as 2031-05-01T12:00:00Z`,
  );
}
