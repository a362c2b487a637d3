import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { habitModels } from '../../gateway/development/hub/habits.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { isPaid, subscriptions } from '../harness/doors/root-fields.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { answerRows } from '../harness/habits/answer-rows.ts';
import { streaming, ways } from '../harness/habits/apis.ts';

/*
 * Each habit of hubs in each way in which a model's answer is sold: chats, responses and messages, whole and streamed, by REST and on the
 * graph. A new habit is tested in all of them, and one table has the outcomes. Other aspects of habits (texts of a refusal, reasoning,
 * repeated work, money) are tested in hub-verdicts, hub-answers, broken-streams and clients/habits.
 */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
/** Resets the service, because what it has learned of a model and its hub from one habit must not affect the next. */
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
