// Prints each event of token exchange as a line of standard output, for the test to read.
import type { OnModuleInit } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';

@Injectable()
export class EventPrinter implements OnModuleInit {
  constructor(private readonly emitter: EventEmitter2) {}

  onModuleInit(): void {
    this.emitter.onAny((name, event) => {
      console.log(`emitted ${String(name)}`);
      console.log(`event ${JSON.stringify(event)}`);
    });
  }
}
