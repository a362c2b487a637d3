import { z } from 'zod';
import { EXAMPLE_ADDRESS } from '../../schema/eip55.ts';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { RegistrationRequest } from '../../schema/requests/registration.ts';
import { RegistrationNoun, SessionRotationNoun } from '../../schema/session/registration.ts';
import { nameComponents } from '../answer-shapes.ts';
import { AgentPath } from '../book/doors.ts';
import { documentDoor } from '../door.ts';

nameComponents({ Registration: RegistrationNoun, Rotation: SessionRotationNoun });

/** The book that a registration opens has no rows, so no row can be its parent. */
const NoParent = z.object({
  'x-svc-parent': z
    .preprocess(given => {
      if (given !== undefined) throw new Refusal('parent_not_on_book', { param: 'x-svc-parent' });
      return given;
    }, z.string().optional())
    .optional()
    .describe('Not supported: a registration has no parent. Any value is refused with 403.'),
});

export const registrationDoors = [
  documentDoor({
    name: 'register_agent',
    effect: 'adds',
    tool: { daily: true },
    methods: ['POST'],
    path: '/v1/agents/register',
    summary: 'Register the paying wallet as an agent and open its book',
    example: { agentWallet: EXAMPLE_ADDRESS },
    tags: ['registration'],
    // An API key proves no wallet, so it cannot register one.
    price: { amount_atomic: limits.stamp_price_atomic, networks: ['base'], stamp: true, paid_by: ['payment'] },
    waived_by: 'task_id',
    field: 'registerAgent',
    headers: NoParent,
    body: RegistrationRequest,
    response: RegistrationNoun,
    errors: [
      'invalid_wallet',
      'invalid_proof',
      'control_proof_missing',
      'control_proof_invalid',
      'payer_mismatch',
      'receipt_not_qualifying',
      'wallet_registered',
    ],
  }),
] as const;

export const possessionDoors = [
  documentDoor({
    name: 'rotate_session',
    tool: { none: 'returns_secret' },
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/rotate',
    summary: 'Rotate the session of a book: end the current session and issue another',
    tags: ['book'],
    possession: 'session',
    field: 'rotateSession',
    params: AgentPath,
    response: SessionRotationNoun,
  }),
] as const;
