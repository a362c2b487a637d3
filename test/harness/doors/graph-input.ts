import { everyDoor } from '../../../rest-compat/every-door.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
// So that the inputs of the graph are there, by which a resolver reads what it is given.
import '../../../subgraphs/receipt/index.ts';

/** What the endpoint of that name makes of a body, and the input that its field is given of it, as it comes by /graphql. */
export function inputOfBody(name: string, body: object): { readonly valid: JsonObject; readonly input: JsonObject } {
  const door = everyDoor.find(one => one.name === name);
  if (door?.kind !== 'document') throw new Error(`${name} has no operation`);
  const { valid_body, variables } = door.operation({ params: {}, query: {}, headers: {}, body: body as JsonObject });
  return { valid: valid_body as JsonObject, input: JSON.parse(JSON.stringify(variables.input)) as JsonObject };
}
