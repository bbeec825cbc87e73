// Reads the query of a page of the audit trail: filters, time and place.
import type { PipeTransform } from '@nestjs/common';
import type { Checked, TimeRange, TrailFilter } from '../../audit/trail-filter.js';
import { checkEvent, checkReason, checkText } from '../../audit/trail-filter.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { PageQuery } from '../api/query.pipe.js';
import { QueryPipe, readId } from '../api/query.pipe.js';

export interface AuditEventQuery extends PageQuery {
  readonly filter: TrailFilter;
  /** As it was given; nothing is filled in. */
  readonly range: TimeRange;
}

/** A date, or date and time with their zone (RFC 3339). */
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

export class AuditEventQueryPipe implements PipeTransform<Record<string, unknown>, AuditEventQuery> {
  private readonly parameters = new QueryPipe({
    event: checkedBy(checkEvent),
    userId: readId,
    subjectUserId: readId,
    issuer: checkedBy(checkText),
    reason: checkedBy(checkReason),
    requestId: checkedBy(checkText),
    since: readMoment,
    until: readMoment,
  });

  transform(query: Record<string, unknown>): AuditEventQuery {
    const { limit, cursor, since, until, ...filter } = this.parameters.transform(query);
    return { limit, cursor, filter, range: { since, until } };
  }
}

function checkedBy(check: (text: string) => Checked<string>) {
  return (text: string, name: string) => {
    const checked = check(text);
    if ('value' in checked) return checked.value;
    throw new ApiRefusal('bad_request', `${name} ${checked.rule}`);
  };
}

function readMoment(text: string, name: string): Date {
  const date = MOMENT.exec(text)?.[1];
  const moment = new Date(text);
  if (date !== undefined && isInCalendar(date) && !Number.isNaN(moment.getTime())) return moment;
  throw new ApiRefusal(
    'bad_request',
    `${name} must be a date or a time with its zone, such as 2031-05-01T12:00:00Z`,
  );
}

/** Date parsing lets the 30th of February pass as the 2nd of March. */
function isInCalendar(date: string): boolean {
  const moment = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date);
}
