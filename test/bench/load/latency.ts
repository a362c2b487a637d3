import { type Answer, Connection } from './connection.ts';

/** URL and requests of one side of a comparison. */
export interface RequestTarget {
  readonly url: string;
  request(): Buffer;
}

/** The part of an answer that is awaited. `whole`: up to its last byte. `first`: up to the first byte of its body. */
export type AnswerPart = 'whole' | 'first';

export interface AddedLatency {
  readonly calls: number;
  readonly added_ms: number;
  /** Added time without the steps that pay for and record a call, as far as Server-Timing lists them. */
  readonly passing_on_ms: number;
}

/**
 * Medians of the milliseconds that `through` adds to the answer of `straight`. One caller calls both in turn, so that anything that slows
 * the machine affects both. @throws on any status but 200
 */
export async function addedLatency(
  straight: RequestTarget,
  through: RequestTarget,
  awaited: AnswerPart,
  seconds: number,
): Promise<AddedLatency> {
  const [direct, proxied] = [await Connection.open(straight.url), await Connection.open(through.url)];
  const taken = { direct: [] as number[], proxied: [] as number[], passing_on: [] as number[] };
  try {
    const until_ms = performance.now() + seconds * 1_000;
    while (performance.now() < until_ms) {
      taken.direct.push((await timed(direct, straight.request(), awaited)).ms);
      const { ms, paying_ms } = await timed(proxied, through.request(), awaited);
      taken.proxied.push(ms);
      taken.passing_on.push(ms - paying_ms);
    }
  } finally {
    for (const connection of [direct, proxied]) connection.close();
  }
  const hub_ms = median(taken.direct);
  return {
    calls: taken.proxied.length,
    added_ms: median(taken.proxied) - hub_ms,
    passing_on_ms: median(taken.passing_on) - hub_ms,
  };
}

async function timed(connection: Connection, request: Buffer, awaited: AnswerPart) {
  const began_ms = performance.now();
  const answer = await connection.exchange(request);
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.body}`);
  const ended_ms = awaited === 'first' ? answer.body_began_ms : performance.now();
  return { ms: ended_ms - began_ms, paying_ms: payingMs(answer) };
}

function payingMs({ head }: Answer): number {
  const steps = /\r\nserver-timing: (.*)/i.exec(head)?.[1] ?? '';
  const laps = steps.matchAll(/\b(?:verify|claim|settle|record);dur=([\d.]+)/g);
  return [...laps].reduce((sum, [, ms]) => sum + Number(ms), 0);
}

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  return values[values.length >> 1] ?? Number.NaN;
}
