import { expect, it } from 'vitest';
import { KeyCalls } from '../../../gateway/call/key-calls.ts';
import { openRespond } from '../../../gateway/call/respond.ts';
import { openChallenges } from '../../../gateway/x402/offer.ts';

const refused = expect.objectContaining({ code: 'rate_limited', status: 429 });

it('lets so many calls of one key be under way, and those of another beside them', () => {
  const calls = new KeyCalls(2, openRespond(openChallenges({}), 'http://svc.test'));
  const first = calls.begin('one');
  calls.begin('one');
  expect(() => calls.begin('one')).toThrow(refused);
  calls.begin('other');
  first();
  // Ended once, however often it is said.
  first();
  calls.begin('one');
  expect(() => calls.begin('one')).toThrow(refused);
});
