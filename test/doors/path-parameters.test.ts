import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';

/* Ids in paths that no object can have. */

const OPS = 'the-secret-of-the-operators-of-this-board';
let service: Service;
let by: Readonly<Record<string, string>>;
let agent_id: number;
beforeAll(async () => {
  service = await openService({ BOARD_OPS_SECRET: OPS });
  const agent = await service.newAgent();
  agent_id = agent.agent_id;
  by = { 'X-SVC-Session': agent.session, 'X-SVC-Board-Ops': OPS };
});

const named = everyDoor.filter(({ path, kind }) => kind === 'document' && /\{(?!agent_id)\w+\}/.test(path));

describe('a NUL in a path, which no text of Postgres holds', () => {
  it.each(named.map(door => [door.name, door] as const))('%s is no fault of ours', async (_, { methods, path }) => {
    const asked = path.replace('{agent_id}', String(agent_id)).replace(/\{\w+\}/g, 'a%00');
    for (const method of methods) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: { ...ask(), receipt_ref: 'task_x' } };
      expect((await service.knock(method, asked, { ...body, headers: by })).status).toBeLessThan(500);
      if ('body' in body) {
        const { status } = await service.knock(method, asked, { body: {}, headers: by });
        expect(status).toBeLessThan(500);
      }
    }
  });
});
