// Answers the operator's pages and the files they are made of. They show nothing by themselves: they ask the operator's API.
import { Controller } from '@nestjs/common';
import { PageController } from '../../platform/http/page.controller.js';
import { OperatorPageFiles } from './operator-page.files.js';

/**
 * @rule D113 The operator's pages are one document, whose addresses name no person. See public/main.js for what outlives a
 *   sign-in.
 */
@Controller('admin')
export class OperatorPageController extends PageController {
  constructor(files: OperatorPageFiles) {
    super(files);
  }
}
