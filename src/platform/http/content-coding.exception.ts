import { UnsupportedMediaTypeException } from '@nestjs/common';
import { CODING_MESSAGE } from './answers.js';

/** A body came compressed, or in another content coding. */
export class ContentCodingException extends UnsupportedMediaTypeException {
  constructor() {
    super({ error: 'unsupported_media_type', message: CODING_MESSAGE });
  }
}
