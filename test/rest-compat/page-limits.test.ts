import { expect, it } from 'vitest';
import { z } from 'zod';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { shapeMembers } from '../../schema/noun-shape.ts';

const INT_MAX = 2 ** 31 - 1;
const limited = everyDoor.flatMap(({ name, requests }) => {
  const { limit } = shapeMembers(requests.query);
  return limit ? [[name, limit] as const] : [];
});

it.each(limited)(
  '%s: a limit beyond the largest, and beyond what Int holds, is clamped and not refused',
  (_, limit) => {
    const most = z.number().parse(z.parse(limit, '3000000000'));
    expect(most).toBeLessThanOrEqual(INT_MAX);
    expect(z.parse(limit, String(most))).toBe(most);
    expect(z.safeParse(limit, '0').success).toBe(false);
  },
);

it('that are walked are those of queries that come in pages', () => {
  expect(limited.map(([name]) => name)).toEqual(
    expect.arrayContaining(['get_agent_book', 'list_disputes', 'list_board_posts', 'search_board', 'get_revocations']),
  );
});
