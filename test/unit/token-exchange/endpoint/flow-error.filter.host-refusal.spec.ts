// What guards of a host refuse, in fixed words.
import {
  ForbiddenException,
  HttpException,
  PayloadTooLargeException,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { hostRefusalOf } from '../../../../src/token-exchange/endpoint/flow-error.filter.js';

it.each([
  [new UnauthorizedException('Sign in'), { status: 401, error: 'unauthorized', message: 'Sign in' }],
  [new ForbiddenException('Not you'), { status: 403, error: 'forbidden', message: 'Not you' }],
  [new HttpException('Slowly', 429), { status: 429, error: 'too_many_requests', message: 'Slowly' }],
  [new PayloadTooLargeException('Less'), { status: 413, error: 'refused', message: 'Less' }],
  [
    new ServiceUnavailableException('Later'),
    { status: 503, error: 'temporarily_unavailable', message: 'Later' },
  ],
  [new HttpException('Oh', 500), { status: 500, error: 'internal_error', message: 'Oh' }],
])('%s keeps its status', (exception, refusal) => expect(hostRefusalOf(exception)).toEqual(refusal));

it('another error is not a refusal', () => expect(hostRefusalOf(new Error('broken'))).toBeUndefined());
