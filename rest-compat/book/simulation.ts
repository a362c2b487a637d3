import { PolicySimulationNoun } from '../../schema/policy.ts';
import { SimulationRequest } from '../../schema/requests/simulation.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

/** Response: the calls that a policy would have refused. */
export const simulationDoors = [
  documentDoor({
    name: 'simulate_book_policy',
    effect: 'reads',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/policy/simulate',
    summary: 'Simulate policies on the past calls of the book: the calls that they would have refused, and sums',
    tags: ['book'],
    possession: 'required',
    field: 'policySimulation',
    params: AgentPath,
    body: SimulationRequest,
    response: PolicySimulationNoun,
    errors: ['invalid_policy', 'book_damaged', 'rate_limited'],
  }),
] as const;

nameComponents({ PolicySimulation: PolicySimulationNoun });
