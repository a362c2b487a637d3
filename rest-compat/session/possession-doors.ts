import { PossessionMembers } from '../../schema/requests/possession.ts';
import { AgentPath } from '../book/doors.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { Rotation } from './possession-answers.ts';

export const possessionDoors = [
  documentDoor({
    name: 'rotate_session',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/rotate',
    summary: 'End the session in hand and issue another; the book stays',
    tags: ['book'],
    possession: 'session',
    document: operation('session/rotate_session'),
    params: AgentPath,
    body: PossessionMembers,
    variables: ({ params }) => ({ agentId: params.agent_id }),
    response: Rotation,
  }),
] as const;
