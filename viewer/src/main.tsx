import { render } from "preact";
import { App } from "./page/app";
import "./style/all.css";

render(<App />, document.getElementById("app")!);
