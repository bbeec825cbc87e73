// The API of the page "Add a partner".
import { HttpCode, Post } from '@nestjs/common';
import { Administration } from '../../administration/administration.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import type { OperatorCall } from '../api/operator-call.decorator.js';
import { Call, OperatorController } from '../api/operator-call.decorator.js';
import { Unattended } from '../sign-in/operator.guard.js';
import { PartnerOperations } from './partner.operations.js';

@OperatorController()
export class OperatorPartnerController {
  constructor(
    private readonly administration: Administration,
    private readonly partners: PartnerOperations,
  ) {}

  @Post('partners/key')
  @HttpCode(200)
  key(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.partners, 'readKey', body, call);
  }

  @Post('partners/key-set')
  @HttpCode(200)
  keySet(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.partners, 'fetchKeys', body, call);
  }

  @Post('partners/requests')
  @HttpCode(200)
  @Unattended()
  requests(@JsonObject() body: Record<string, unknown>, @Call() call: OperatorCall) {
    return this.administration.perform(this.partners, 'requests', body, call);
  }
}
