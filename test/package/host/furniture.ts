// What a host may have for all its routes, and a route of its own that lives by it.
import type {
  ArgumentsHost,
  CallHandler,
  ExecutionContext,
  INestApplication,
  NestInterceptor,
  Provider,
} from '@nestjs/common';
import { Body, Catch, Controller, HttpException, Injectable, Post, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, BaseExceptionFilter } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { IsEmail, IsString } from 'class-validator';
import helmet from 'helmet';
import type { Observable } from 'rxjs';
import { map } from 'rxjs';

class Contact {
  @IsString()
  name!: string;

  @IsEmail()
  email!: string;
}

@Controller('contact')
export class ContactController {
  @Post()
  contact(@Body() contact: Contact): Contact {
    return contact;
  }
}

@Injectable()
class WrappingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((wrapped: unknown) => ({ wrapped })));
  }
}

/** Answers every error in a form of the host's. */
@Catch()
class WrappingFilter extends BaseExceptionFilter {
  override catch(error: { readonly statusCode?: number }, host: ArgumentsHost): void {
    const status = error instanceof HttpException ? error.getStatus() : (error.statusCode ?? 500);
    super.catch(new HttpException({ filtered: status }, status), host);
  }
}

/** The host's own limit, in addition to the limits of token exchange. */
export const FURNITURE_MODULES = [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 5_000 }])];

export const FURNITURE: Provider[] = [
  { provide: APP_GUARD, useClass: ThrottlerGuard },
  { provide: APP_FILTER, useClass: WrappingFilter },
  { provide: APP_INTERCEPTOR, useClass: WrappingInterceptor },
  {
    provide: APP_PIPE,
    useValue: new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }),
  },
];

export const ALLOWED_ORIGIN = 'https://app.example';

export function furnish(app: INestApplication): void {
  app.setGlobalPrefix('v2');
  app.enableCors({ origin: ALLOWED_ORIGIN, credentials: true });
  app.use(helmet());
}
