// Reads the text that /metrics answers.
import { Metrics } from '../../src/metrics/metrics.js';
import type { TestService } from './test-service.js';

/** One line of the exposition format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^(?<name>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;

export class MetricSamples {
  private constructor(readonly all: readonly Sample[]) {}

  static async read(service: TestService): Promise<MetricSamples> {
    return MetricSamples.in(await metricsOf(service));
  }

  /** Reads the metrics of a service in its own process. @param url the one of `surroundingsOf` */
  static async at(url: string): Promise<MetricSamples> {
    return MetricSamples.in(await (await fetch(url)).text());
  }

  private static in(text: string): MetricSamples {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new MetricSamples(lines.map(parse));
  }

  /** The sum of the samples that have these labels; 0 if there is none. */
  value(name: string, labels: Record<string, string> = {}): number {
    return this.named(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  named(name: string, labels: Record<string, string> = {}): Sample[] {
    const fits = (sample: Sample) =>
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
    return this.all.filter((sample) => sample.name === name && fits(sample));
  }
}

/** The text that a service in this process would answer; it has no listener unless a test asks for one. */
export function metricsOf(service: TestService): Promise<string> {
  return service.part(Metrics).registry.metrics();
}

function parse(line: string): Sample {
  const { name, labels = '', value } = LINE.exec(line)?.groups ?? {};
  if (name === undefined) throw new Error(`not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
    key,
    text,
  ]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
