// Reads the form of a token-exchange request: grant_type first, then every other field.
import type { PipeTransform } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { IsNotEmpty, IsOptional, Matches, validateSync } from 'class-validator';
import { Form } from '../../http/form.js';
import { wellFormed } from '../flow-form.js';
import { FlowRefusal } from '../flow-refusal.js';

/** RFC 8693 §2.1. */
const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const MAX_SCOPE_CHARACTERS = 1024;
const MAX_AUDIENCE_CHARACTERS = 1024;
const MAX_RESOURCE_CHARACTERS = 2048;

/** Counts code points; class-validator's own length check leaves some characters out. */
function atMost(characters: number): RegExp {
  return new RegExp(`^.{0,${characters}}$`, 'su');
}

/**
 * The fields of the request that are read (4.2). Every unknown field is ignored (RFC 6749 §3.2).
 * @rule 4.2.subject_token_type The three token-type fields are taken and ignored.
 */
export class TokenExchangeForm {
  /** @rule 4.2.subject_token The subject token is required. */
  @IsNotEmpty({ message: 'subject_token is required' })
  readonly subjectToken: string | undefined;

  /**
   * An actor token that is there but empty is an error, not an exchange without actor: the caller meant another identity.
   * @rule 4.2.actor_token The actor token is optional, but never empty.
   */
  @IsOptional()
  @IsNotEmpty({ message: 'actor_token must not be empty' })
  readonly actorToken: string | undefined;

  /** @rule 4.2.scope At most 1024 characters. */
  @IsOptional()
  @Matches(atMost(MAX_SCOPE_CHARACTERS), {
    message: `scope must have at most ${MAX_SCOPE_CHARACTERS} characters`,
  })
  readonly scope: string | undefined;

  /** @rule 4.2.audience At most 1024 characters; ignored. */
  @IsOptional()
  @Matches(atMost(MAX_AUDIENCE_CHARACTERS), {
    message: `audience must have at most ${MAX_AUDIENCE_CHARACTERS} characters`,
  })
  readonly audience: string | undefined;

  /** @rule 4.2.resource At most 2048 characters; URIs with spaces between them. */
  @IsOptional()
  @Matches(atMost(MAX_RESOURCE_CHARACTERS), {
    message: `resource must have at most ${MAX_RESOURCE_CHARACTERS} characters`,
  })
  readonly resource: string | undefined;

  constructor(form: Form) {
    this.subjectToken = form.get('subject_token');
    this.actorToken = form.get('actor_token');
    this.scope = form.get('scope') || undefined;
    this.audience = form.get('audience') || undefined;
    this.resource = form.get('resource') || undefined;
  }

  /** The target resources, or undefined where none is named. */
  get resources(): readonly string[] | undefined {
    const uris = this.resource?.split(' ').filter((uri) => uri !== '') ?? [];
    return uris.length > 0 ? uris : undefined;
  }
}

/** A form that passed every check, in which the required field is there. */
export type CheckedTokenExchangeForm = TokenExchangeForm & { readonly subjectToken: string };

/** Turns the raw body into a checked form. */
@Injectable()
export class TokenExchangeFormPipe implements PipeTransform<Buffer | undefined, CheckedTokenExchangeForm> {
  /**
   * @rule D16 A field error names the field and its limit.
   * @throws FlowRefusal `unsupported_grant_type` or `field_invalid`
   */
  transform(body: Buffer | undefined): CheckedTokenExchangeForm {
    const form = Form.read(body ?? '');
    judgeGrantType(form);
    refuseArrayNotation(wellFormed(form));
    const fields = new TokenExchangeForm(form);
    const [error] = validateSync(fields, { stopAtFirstError: true });
    if (error !== undefined)
      throw new FlowRefusal('field_invalid', Object.values(error.constraints ?? {}).join(', '));
    return fields as CheckedTokenExchangeForm;
  }
}

/** @rule 4.2.grant_type Anything but the exact URN is an unsupported grant type. */
function judgeGrantType(form: Form): void {
  if (form.get('grant_type') === TOKEN_EXCHANGE_GRANT) return;
  throw new FlowRefusal('unsupported_grant_type', `grant_type must be ${TOKEN_EXCHANGE_GRANT}`);
}

/** `actor_token[]=…` means an actor to its sender; ignoring it would hand out the subject's rights instead. */
function refuseArrayNotation(form: Form): void {
  const name = form.names.find((candidate) => /^(subject_token|actor_token)\[/.test(candidate));
  if (name !== undefined)
    throw new FlowRefusal('field_invalid', 'subject_token and actor_token must be single fields');
}
