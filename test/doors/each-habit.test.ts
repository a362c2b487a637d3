import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { habitModels } from '../../gateway/development/hub/habits.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { isPaid, subscriptions } from '../harness/doors/root-fields.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { answerRows } from '../harness/habits/answer-rows.ts';
import { streaming, ways } from '../harness/habits/apis.ts';

/*
 * Each habit of hubs by each way in which a model's answer is sold: chats, responses and messages, whole and streamed, by REST and by the
 * graph. A new habit is asked by all of them, and one table says what comes of it. What else a habit is about (words of a refusal,
 * reasoning, reruns, money) is asked in hub-verdicts, hub-answers, broken-streams and clients/habits.
 */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
/** What the service has learned of a model by one habit, and of its hub, is nothing to the next. */
beforeEach(() => service.reset());

describe('a model’s answer', () => {
  it.each(habitModels)('of %s is the same by each way', async habit => {
    service.hubs[0].behave({ kind: 'habit', model: habit });
    const row = answerRows[habit];
    const { whole, streamed } = typeof row === 'string' ? { whole: row, streamed: row } : row;
    const socket = openSocket(service, { api_key: 'a-live-key' });
    const lines = ways.map(async way => [way.name, await way.ask(service, socket)] as const);
    const expected = ways.map(({ name, streams }) => [name, streams ? streamed : whole]);
    expect(Object.fromEntries(await Promise.all(lines))).toEqual(Object.fromEntries(expected));
  });

  it('is asked for by every door and every paid field that streams', () => {
    const doors = everyDoor.filter(({ event, price }) => event && price).map(({ path }) => path);
    expect([...streaming.paths].sort()).toEqual(doors.sort());
    const fields = subscriptions.filter(isPaid).map(({ name }) => name);
    expect([...streaming.fields].sort()).toEqual(fields.sort());
  });
});
