// The bodies of errors, as the API's description shows them.
import { ApiProperty } from './body/api-documentation.js';

export class ErrorAnswer {
  @ApiProperty({ description: 'A stable machine word.' })
  readonly error!: string;

  @ApiProperty({ description: 'For people. Names the field where one is wrong, never a value.' })
  readonly message!: string;

  @ApiProperty({ description: 'The X-Request-Id of the answer, under which the log has the cause.' })
  readonly requestId!: string;
}

/** The one body of every 404. */
export class NotFoundAnswer {
  @ApiProperty({ enum: ['not_found'], description: 'A stable machine word.' })
  readonly error!: string;

  @ApiProperty({ enum: ['Not found'], description: 'For people.' })
  readonly message!: string;
}
