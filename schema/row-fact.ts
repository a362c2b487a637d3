/** Definition of one fact of a row. book-row.ts has all of them. */
export interface RowFact {
  /**
   * Source of the fact. `place`: set by the ledger when it appends the row; `birth`: given by the recorder and hashed with the
   * place; `later`: null at first, set by an arrival; `counted`: number of later replays; `facts`: a member of the column `facts`,
   * which only some kinds of row have; `events`: read from the events of the book; `rows`: read from later rows; `session`: from
   * the delegated session of the call.
   */
  readonly from: 'place' | 'birth' | 'later' | 'counted' | 'facts' | 'events' | 'rows' | 'session';
  /** `digits`: atomic units as text. */
  readonly type: 'text' | 'digits' | 'integer' | 'boolean' | 'amount' | 'time' | 'json' | 'json_list' | 'text_list';
  /** Allowed values of a text. */
  readonly one_of?: readonly string[];
  readonly nullable?: true;
  /** True if an arrival may change it. The event of the arrival keeps the original value. */
  readonly moves?: true;
  /** Shown as this member of a group instead of by its own name. */
  readonly group?: readonly [group: RowGroup, member: string];
  /** True for a member of `facts` that most rows have, so that it does not mark a rare row. */
  readonly common?: true;
  /** True if the fact was added after rows existed. It is hashed only if set, so that older rows keep their hashes. */
  readonly added?: true;
  /** Description in GraphQL. */
  readonly description?: string;
  /** Weight in the cost of a document, if more than that of a field. */
  readonly cost?: number;
  /** Description in OpenAPI, if it differs. */
  readonly rest_description?: string;
  /** `none`: not in REST responses; `null`: shown there even if null. */
  readonly rest?: 'none' | 'null';
  /** True if it is shown nowhere. */
  readonly hidden?: true;
}
export type RowGroup = 'payment' | 'route';
