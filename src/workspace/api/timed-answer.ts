// The times of creation and of the last change, in responses.
import { ApiProperty } from '@nestjs/swagger';

export class TimedAnswer {
  @ApiProperty({ format: 'date-time', description: 'When it was made.' })
  readonly createdAt!: string;

  @ApiProperty({ format: 'date-time', description: 'When it was changed last.' })
  readonly updatedAt!: string;
}

export function timesOf(row: { readonly createdAt: Date; readonly updatedAt: Date }): TimedAnswer {
  return { createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() };
}
