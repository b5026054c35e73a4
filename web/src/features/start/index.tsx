export { Locked } from "./Locked";
export { Start } from "./Start";
