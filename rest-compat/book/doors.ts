import { z } from 'zod';
import { BookNoun } from '../../schema/book/book-page.ts';
import { AlertSettingsNoun } from '../../schema/book-alerts.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { PolicyNoun, ShadowPolicyNoun } from '../../schema/policy.ts';
import { AlertsRequest } from '../../schema/requests/alerts.ts';
import { BookPageRequest, BookRequest, RowFilterRequest } from '../../schema/requests/book.ts';
import { BookPath } from '../../schema/requests/book-path.ts';
import { PolicyMoment, PolicyRequest, parsePolicy } from '../../schema/requests/policy.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { fieldOperation } from '../field-operation.ts';
import { digits, queryOf } from '../text-members.ts';
import { bookNulls } from './answers.ts';

export const AgentPath = z.object({ agent_id: digits(BookPath.shape.agent_id) });

/** An unknown member is refused, because with a misspelled filter all rows would be returned. */
const BookQuery = queryOf(BookPageRequest.omit({ filter: true }).extend(RowFilterRequest.shape));

export const bookDoors = [
  documentDoor({
    name: 'get_agent_book',
    tool: { daily: true },
    idempotent: true,
    methods: ['GET', 'POST'],
    path: '/v1/agents/{agent_id}/book',
    summary: 'Get the book of an agent: collected spend, budget and signed allowance',
    tags: ['book'],
    possession: 'required',
    field: 'book',
    instead: { budget: fieldOperation({ name: 'set_agent_budget', field: 'setBudget', shows: BookNoun }) },
    params: AgentPath,
    query: BookQuery,
    body: BookRequest,
    nulls: bookNulls,
    response: BookNoun,
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'get_book_policy',
    tool: { daily: true },
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/policy',
    summary: 'Get the policies of a book: caps, models, approvals and the kill switch',
    tags: ['book'],
    possession: 'required',
    field: 'bookPolicy',
    params: AgentPath,
    query: PolicyMoment,
    response: PolicyNoun,
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'set_book_policy',
    tool: { daily: true },
    idempotent: true,
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/policy',
    summary: 'Set one policy of the book, enforced or in shadow mode, or clear it',
    tags: ['book'],
    possession: 'required',
    field: 'setBookPolicy',
    params: AgentPath,
    body: PolicyRequest,
    variables: ({ params, body }) => ({
      agentId: params.agent_id,
      // An unknown type is refused here by name, because the graph could not name the invalid enum value.
      policyType: parsePolicy(body.policy_type, body.value as Json | undefined).policy_type,
      mode: body.mode,
      // Absent and null differ: removing a cap has to be explicit.
      ...(body.value === undefined ? {} : { value: body.value as Json }),
    }),
    response: PolicyNoun,
    errors: ['invalid_policy', 'book_damaged'],
  }),
  documentDoor({
    name: 'get_book_alerts',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/alerts',
    summary: 'Get the alert settings of a book',
    tags: ['book'],
    possession: 'required',
    field: 'alertSettings',
    params: AgentPath,
    response: AlertSettingsNoun,
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'set_book_alerts',
    idempotent: true,
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/alerts',
    summary: 'Set the alerts of a book about its caps, budget and unusual spend; null restores a default',
    tags: ['book'],
    possession: 'required',
    field: 'setAlerts',
    params: AgentPath,
    body: AlertsRequest,
    response: AlertSettingsNoun,
    errors: ['book_damaged'],
  }),
] as const;

nameComponents({ BookPolicy: PolicyNoun, ShadowPolicy: ShadowPolicyNoun });
