// Refuses a request that does not carry a security event token, before anything of it is read.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import {
  CODING_MESSAGE,
  faultOfLabel,
  requestOf,
  TOO_LARGE,
  TOO_LARGE_MESSAGE,
} from '../../platform/http/http-messages.js';
import { requestRefusal } from '../refusals/oauth-refusal.js';

export const EVENT_MEDIA_TYPE = 'application/secevent+jwt';

@Injectable()
export class EventGuard implements CanActivate {
  /** @throws Error if the host has no parser that reads such a body as a string */
  canActivate(context: ExecutionContext): boolean {
    const { headers, body } = requestOf(context);
    if (body === TOO_LARGE) throw requestRefusal('payload_too_large', TOO_LARGE_MESSAGE);
    const fault = faultOfLabel(headers, EVENT_MEDIA_TYPE);
    if (fault === 'content_encoding') throw requestRefusal('content_encoding_not_supported', CODING_MESSAGE);
    if (fault !== undefined)
      throw requestRefusal('not_an_event', `Content-Type must be ${EVENT_MEDIA_TYPE} in UTF-8`);
    if (typeof body !== 'string' && Number(headers['content-length']) > 0)
      throw new Error(`no parser of this application has read the body as text: parse ${EVENT_MEDIA_TYPE}`);
    return true;
  }
}
