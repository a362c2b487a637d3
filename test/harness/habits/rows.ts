import { beforeAll, describe, expect, it } from 'vitest';
import { type Habit, whyItDiffers } from './habit.ts';
import { type HabitCall, habitOutcome } from './outcome.ts';
import type { HabitBuyer, StandIn } from './stand-in.ts';

/** A client's calls of a model: one for a whole answer and one for a streamed one. */
export interface Client {
  readonly whole: HabitCall;
  readonly streamed: HabitCall;
}
type Way = keyof Client;

/** Outcome of a habit in a client: one text if it is the same straight from the hub and through the service, otherwise both. */
export type Cell = string | readonly [straight: string, through: string];
export type Row = Cell | { readonly whole: Cell; readonly streamed: Cell };
export type Rows = Readonly<Record<Habit, Row>>;

const ways: readonly Way[] = ['whole', 'streamed'];
const habitsOf = (rows: Rows) => Object.keys(rows) as Habit[];

function outcomesIn(row: Row, way: Way): readonly [straight: string, through: string] {
  const cell = typeof row === 'object' && 'whole' in row ? row[way] : row;
  return typeof cell === 'string' ? [cell, cell] : cell;
}

function mapped(rows: Rows, map: (straight: string, through: string) => Cell): Rows {
  const row = (habit: Habit): Row => ({
    whole: map(...outcomesIn(rows[habit], 'whole')),
    streamed: map(...outcomesIn(rows[habit], 'streamed')),
  });
  return Object.fromEntries(habitsOf(rows).map(habit => [habit, row(habit)])) as Rows;
}

/** Only the outcomes through the service, for a client whose API the hub does not offer. */
export const serviceOutcomes = (rows: Rows): Rows => mapped(rows, (_, through) => through);

const shown = { thoughts: / \[[^\]]*\]/, finish: /(?<=^".*["\]]) \w+$/s } as const;

/** Rows of a client that does not show a model's reasoning, or its finish reason. */
export const withoutShown = (what: keyof typeof shown, rows: Rows): Rows =>
  mapped(rows, (straight, through) => [straight.replace(shown[what], ''), through.replace(shown[what], '')]);

/**
 * Refusals that are not charged. 500 is not among them, because the service never answers it here: the AI SDK shows it for an event that
 * reports `server_error`.
 */
const UNCHARGED = /^\w+ (?:400|403|429|502|503)\b/;
const requestsIn = (outcome: string) => Number(/ ×(\d)/.exec(outcome)?.[1] ?? 1);

/**
 * Tests each habit with one client, whole and streamed: straight from a hub that offers the client's API, and through the service, paid by
 * one wallet.
 */
export function testEachHabit(standIn: () => StandIn, client: Client, rows: Rows, { straight = true } = {}): void {
  let buyer: HabitBuyer;
  beforeAll(async () => {
    buyer = await standIn().newBuyer();
  });
  const cells = habitsOf(rows).flatMap(habit =>
    ways.map(way => [habit, way, ...outcomesIn(rows[habit], way)] as const),
  );
  let owed = 0;

  describe.concurrent('each habit', () => {
    it.each(cells)('%s, %s: %s; through the service: %s', async (habit, way, hub_outcome, outcome) => {
      if (hub_outcome !== outcome) expect(whyItDiffers).toHaveProperty([habit]);
      if (straight) expect(await habitOutcome(client[way], standIn().straight, habit)).toBe(hub_outcome);
      const bought = await habitOutcome(client[way], buyer.reached, habit);
      if (!UNCHARGED.test(bought)) owed += requestsIn(bought);
      expect(bought).toBe(outcome);
    });
  });

  it('is charged once for each answer, and for no refusal', async () => {
    expect(owed).toBeGreaterThan(10);
    expect(await buyer.paid()).toBe(owed);
  });
}
