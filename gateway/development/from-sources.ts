import { register } from 'tsx/esm/api';

/** From now on Node runs our sources as they are: tsx compiles their decorators, which Node does not. */
register();
