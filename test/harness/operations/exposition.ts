import { expect } from 'vitest';

/** One scrape. Samples are keyed by name and labels as they are written, such as `svc_x{a="1"}`. */
export interface Scrape {
  readonly samples: ReadonlyMap<string, number>;
  readonly types: ReadonlyMap<string, string>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)$`);
const HELP = new RegExp(`^# HELP (${NAME}) \\S.*$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`);

/**
 * Parses the text format, version 0.0.4, restricted to the parts that we use. Each family has HELP and TYPE once and before its samples,
 * which are contiguous and distinct. Histograms are complete. Counters end in `_total` and are not negative.
 */
export function parseExposition(text: string): Scrape {
  expect(text.endsWith('\n')).toBe(true);
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  let [helped, family] = ['', ''];
  for (const line of text.split('\n').filter(Boolean)) {
    const [, help] = HELP.exec(line) ?? [];
    const [, typed, type = ''] = TYPE.exec(line) ?? [];
    if (help !== undefined) helped = help;
    else if (typed !== undefined) {
      expect([helped, types.has(typed)], line).toEqual([typed, false]);
      types.set(typed, type);
      family = typed;
    } else {
      const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      expect(name, `no sample: ${line}`).not.toBe('');
      expect(samples.has(name + labels), `twice: ${line}`).toBe(false);
      expect(namesOf(family, types.get(family) ?? ''), line).toContain(name);
      samples.set(name + labels, Number(value.replace('Inf', 'Infinity')));
    }
  }
  for (const [name, type] of types) expectWhole(name, type, samples);
  return { samples, types };
}

function namesOf(family: string, type: string): string[] {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].map(end => family + end) : [family];
}

function expectWhole(family: string, type: string, samples: ReadonlyMap<string, number>): void {
  const own = [...samples].filter(([key]) => namesOf(family, type).includes(key.split('{')[0] ?? ''));
  if (type !== 'gauge') for (const [key, value] of own) expect(value, key).toBeGreaterThanOrEqual(0);
  if (type === 'counter') expect(family).toMatch(/_total$/);
  if (type !== 'histogram') return;
  const buckets = Map.groupBy(
    own.filter(([key]) => key.startsWith(`${family}_bucket`)),
    ([key]) => key.replace(/le="[^"]*",?/, '').replace(/,?}$/, '}'),
  );
  for (const [key, counts] of buckets) {
    const whole = key.replace(`${family}_bucket`, `${family}_count`).replace('{}', '');
    const sorted = counts.map(([, count]) => count);
    expect(sorted, key).toEqual(sorted.toSorted((a, b) => a - b));
    expect(counts.at(-1)?.[0], key).toContain('le="+Inf"');
    expect(counts.at(-1)?.[1], key).toBe(samples.get(whole));
  }
}

/** The checks of names that promtool's lint makes (https://prometheus.io/docs/practices/naming). */
const rules: readonly (readonly [fault: string, applies: (name: string, type: string) => boolean])[] = [
  ['is not in snake_case', name => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)],
  ['has another unit than seconds, bytes and ratios', name => OTHER_UNIT.test(name)],
  ['names its type', (name, type) => name.split('_').includes(type)],
  ['ends as a counter and is none', (name, type) => name.endsWith('_total') && type !== 'counter'],
  ['ends as a part of a histogram', name => /_(bucket|count|sum)$/.test(name)],
];
const OTHER_UNIT =
  /_((milli|micro|nano)seconds?|ms|us|ns|minutes?|hours?|weeks?|bits?|(kilo|mega|giga|kibi|mebi|gibi)bytes?|kb|mb|gb|percent(age)?s?)(_|$)/;

export function namingFaults({ types }: Scrape): string[] {
  const named = (name: string, type: string) => rules.filter(([, applies]) => applies(name, type));
  return [...types].flatMap(([name, type]) => named(name, type).map(([fault]) => `${name} ${fault}`));
}

/** Increases of a counter or of a histogram's count between two scrapes. */
export function increases(before: Scrape, after: Scrape, family: string): Record<string, number> {
  const differences = [...after.samples]
    .filter(([key]) => key.startsWith(`${family}_total{`) || key.startsWith(`${family}_count{`))
    .map(([key, value]) => [key.slice(key.indexOf('{')), value - (before.samples.get(key) ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, difference]) => difference !== 0));
}
