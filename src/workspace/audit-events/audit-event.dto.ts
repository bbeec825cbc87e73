// Responses of the audit trail.
import { ApiProperty } from '@nestjs/swagger';
import type { ShownEvent } from '../../audit/audit-trail.reader.js';
import { AUDIT_EVENT_NAMES } from '../../audit/instance-events.js';

const MOMENT = { type: 'string', format: 'date-time', nullable: true } as const;
const USER_ID = { type: 'string', format: 'uuid', nullable: true } as const;

export class AuditEventAnswer implements ShownEvent {
  @ApiProperty({ description: 'Id: decimal digits.', pattern: '^[0-9]{1,19}$' })
  readonly id!: string;

  @ApiProperty({ description: `Name: ${AUDIT_EVENT_NAMES.join(', ')}, or one of another release.` })
  readonly event!: string;

  @ApiProperty({ format: 'date-time', description: 'When it happened, by the clock of the instance.' })
  readonly occurredAt!: string;

  @ApiProperty({ description: 'The X-Request-Id of the answer.' })
  readonly requestId!: string;

  @ApiProperty({
    required: false,
    description: 'The X-Request-Id that the client sent, unless a trusted proxy wrote it.',
  })
  readonly clientRequestId?: string;

  @ApiProperty({ ...USER_ID, description: 'Id of the user that the event is about.' })
  readonly subjectUserId!: string | null;

  @ApiProperty({ ...USER_ID, description: 'Id of the user who acted for the subject.' })
  readonly actorUserId!: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'The properties of this event.' })
  readonly payload!: Readonly<Record<string, unknown>>;
}

export class AuditEventPageAnswer {
  @ApiProperty({ type: [AuditEventAnswer], description: 'The newest first.' })
  readonly data!: AuditEventAnswer[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Where the next page begins; null only on the last page. Earlier pages may be empty.',
  })
  readonly nextCursor!: string | null;

  @ApiProperty({
    ...MOMENT,
    description: 'The beginning of the searched range; null if all of the trail is searched.',
  })
  readonly since!: string | null;

  @ApiProperty({ ...MOMENT, description: 'The end of the searched range; null if it is now.' })
  readonly until!: string | null;

  @ApiProperty({ ...MOMENT, description: 'How far back this page has searched; null on the last page.' })
  readonly lookedBackTo!: string | null;
}
